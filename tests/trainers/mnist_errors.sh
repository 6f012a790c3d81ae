#!/bin/sh
# SPDX-License-Identifier: MIT
# mnist_errors.sh TEST CASE MESSAGE SET PROGRAM: makes a set that is wrong in one way; the program
# must say so and stop.
set -eu

test=$1 case=$2 message=$3 set=$4 program=$5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$set"/* "$dir"
images=$dir/train-images-idx3-ubyte
case $case in
missing) rm "$images" ;;
truncated) head -c 1016 "$set/train-images-idx3-ubyte" >"$images" ;;
magic) cp "$set/train-labels-idx1-ubyte" "$images" ;;
packed) printf '\037\213\010\0000123456789012345678' >"$images" ;;
esac
sh "$test" refuses "$message" "$program" --data "$dir" --steps 1
