# SPDX-License-Identifier: MIT
# The machine, its libraries, and what tfshim says it will see here.
. "$GPU_HERE/common.sh"

smi() {
	nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1
}

put environment gpu "$GPU_NAME"
if [ -z "$GPU_SIMULATED" ]; then
	for what in driver_version memory.total clocks.sm clocks.mem clocks.max.sm pcie.link.gen.current pcie.link.gen.max pcie.link.width.current \
		temperature.gpu power.draw mig.mode.current; do
		put environment "$what" "$(smi "$what")"
	done
	put environment cuda "$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' | head -n 1)"
fi
put environment date "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
put environment kernel "$(uname -srm)"
put environment system "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null)"
put environment libc "$(ldd --version 2>/dev/null | head -n 1)"
put environment cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
put environment cpus "$(nproc)"
put environment memory "$(sed -n 's/^MemTotal: *//p' /proc/meminfo)"
put environment clocksource "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)"
put environment load "$(cut -d' ' -f1-3 /proc/loadavg)"
put environment tfshim "$("$tfshim" --version 2>&1 | head -n 1)"
for library in libcudart.so.13 libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libnccl.so.2 libcupti.so.13 libcurand.so.10; do
	put environment "$library" "$(readlink -f "$GPU_LIBRARIES/$library" 2>/dev/null | grep . || echo 'not found')"
done
for tool in python3 nsys ncu compute-sanitizer jq nvcc; do
	put environment "$tool" "$(command -v $tool || echo 'not found')"
done
put environment torch "$(own limited 60 python3 -c 'import torch; print(torch.__version__, torch.cuda.is_available())' 2>&1 | tail -n 1)"
for program in "$trainers/lenet_naive" "$suite/lenet_naive_static"; do
	limited 20 "$tfshim" doctor "$program" >doctor.out 2>&1
	put environment "doctor ${program##*/}" "status $?"
	echo "== tfshim doctor $program"
	cat doctor.out
done
# The clocks under load come with every part that measures; a GPU that starts cold is warmed first.
exit 0
