#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py LIST OUT.c INCLUDE_DIR HOOKS.c...: hooks that need no more than a prototype.

LIST has a line "library NAME", a line "headers FILE..." and then, one a line, a function's name or
a pattern of names, its family, and what is written down of a call:

  plain   that it took place
  stream  and on which stream, and with which event: its parameters of those types
  touch   and which known memory it was given: what a pointer to a constant leads to is read,
          what any other leads to may be read or written
  write   and that it writes what its pointer leads to, as many elements as the parameter behind says
  gemm    a product of matrices, by its parameters' names as cublas_api.h has them

A header is NVIDIA's, in INCLUDE_DIR, or with a folder one of the project's. A pattern takes what
they declare, less what HOOKS.c, the blocks written by hand, have.
"""
import fnmatch
import os
import re
import sys

HANDLES = {
    "cublasHandle_t": ("shim/hooks/cublas/cublas.h", "tfs_cublas_details(&details, {})"),
    "cudnnHandle_t": ("shim/hooks/cudnn.h", "tfs_cudnn_details(&details, {})"),
    # cuRAND does not tell a generator's stream.
    "curandGenerator_t": (None, "tfs_details_init(&details, TFS_NO_STREAM)"),
}
NO_HANDLE = "tfs_details_init(&details, tfs_stream_id(NULL, false))"


def place(folder, header):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.path.join(root if "/" in header else folder, header)


def prototypes(paths):
    """name -> (type, [(type, name)]) of every function that the headers declare."""
    found = {}
    for path in paths:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", open(path, errors="replace").read(), flags=re.S)
        text = re.sub(r"^[ \t]*#([^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        text = re.sub(r"__dv\([^()]*\)", "", text)
        for kind, name, parameters in re.findall(
                r"(\w[\w ]*?)\s+(?:CUDARTAPI|CUBLASWINAPI|CUDNNWINAPI|CURANDAPI)?\s*"
                r"\b((?:cuda|cublas|cudnn|curand|nccl)\w+)\s*\(([^;(){}=]*)\)\s*;", text):
            kind = kind.split()[-1]
            found.setdefault(name, (kind, [split(one) for one in parameters.split(",")
                                           if one.strip() not in ("", "void")]))
    return found


def split(parameter):
    # C has no type for half a float.
    parameter = re.sub(r"\b__(half|nv_bfloat16)\b", "uint16_t", " ".join(parameter.split()))
    name = re.search(r"(\w+)((\[\w*\])?)$", parameter)
    return parameter[:name.start()].strip() + ("*" if name[2] else ""), name[1]


def read(path):
    rows, head = [], {}
    for line in open(path):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] in ("library", "headers"):
            head[words[0]] = words[1:]
        else:
            rows.append(words)
    return head["library"][0], head["headers"], rows


SCALARS = {"float": "CUDA_R_32F", "double": "CUDA_R_64F", "cuComplex": "CUDA_C_32F",
           "cuDoubleComplex": "CUDA_C_64F", "uint16_t": "CUDA_R_16F"}
FIELDS = {"handle": "handle", "m": "m", "n": "n", "k": "k", "alpha": "alpha", "beta": "beta",
          "lda": "lda", "ldb": "ldb", "ldc": "ldc", "strideA": "stride_a", "strideB": "stride_b",
          "strideC": "stride_c", "batchCount": "batch", "computeType": "compute"}


def product(parameters):
    """The call that writes a product's details."""
    at = {called: f"a{i}" for i, (type_, called) in enumerate(parameters)}
    types = {called: type_ for type_, called in parameters}
    fields = {field: at[called] for called, field in FIELDS.items() if called in at}
    fields.setdefault("batch", "1")
    fields["a_transposed"] = f"{at['transa']} != CUBLAS_OP_N"
    fields["b_transposed"] = f"{at['transb']} != CUBLAS_OP_N"
    for nth, matrix in enumerate("ABC"):
        one, many = at.get(matrix), at.get(matrix + "array")
        fields.update({matrix.lower(): one} if one else {f"lists[{nth}]": many})
        fields[f"{matrix.lower()}_bytes"] = f"tfs_cublas_type_bytes({at[matrix + 'type']})" \
            if matrix + "type" in at else f"sizeof(*{one})" if one else f"sizeof(**{many})"
    element = re.sub(r"const |\*", "", types["alpha"]).strip()
    fields["scalar"] = SCALARS.get(
        element, f"tfs_cublas_scalar_type({at.get('computeType')}, {at.get('Ctype')})")
    inner = ", ".join(f".{field} = {value}" for field, value in fields.items())
    return f"tfs_cublas_note_gemm(&frame, &(struct tfs_gemm){{{inner}}})"


def details(kind, parameters, per_thread):
    """The lines that write a call's details, and the header that they need."""
    names = [f"a{i}" for i in range(len(parameters))]
    on_stream = [f"tfs_details_init(&details, tfs_stream_id({name}, {per_thread}))"
                 for name, parameter in zip(names, parameters) if parameter[0] == "cudaStream_t"]
    if kind == "stream":
        return on_stream[:1] + [
            f"tfs_put_attribute(&details, TFS_ATTRIBUTE_event, (uint64_t)(uintptr_t){name})"
            for name, parameter in zip(names, parameters) if parameter[0] == "cudaEvent_t"], None
    header, begin = HANDLES.get(parameters[0][0], (None, NO_HANDLE))
    lines = on_stream[:1] or [begin.format("a0")]
    if kind == "write":
        at = next(i for i, (type_, called) in enumerate(parameters) if "*" in type_)
        return lines + [f"tfs_put_operand(&details, a{at}, a{at + 1} * sizeof(*a{at}), "
                        "TFS_ROLE_WRITE)"], header
    for name, (type_, called) in zip(names, parameters):
        if called == "result" and header == "shim/hooks/cublas/cublas.h":
            lines.append(f"tfs_cublas_put_result(&details, a0, {name})")
        elif "*" in type_:
            constant = type_.startswith("const") or type_.count("*") > 1
            lines.append(f"tfs_put_touched(&details, {name}, {str(constant).lower()})")
    return lines, header


def block(name, result, parameters, kind, per_thread):
    declared = ", ".join(f"{p[0]} a{i}" for i, p in enumerate(parameters)) or "void"
    arguments = ", ".join(f"a{i}" for i in range(len(parameters)))
    if kind == "plain":
        return f"TFS_PLAIN_HOOK({result}, {name}, ({declared}), ({arguments}))\n", None
    lines, header = [], "shim/hooks/cublas/cublas.h"
    if kind != "gemm":
        lines, header = details(kind, parameters, per_thread)
    real = f"TFS_REAL({name})({arguments})"
    status = "status" if re.search(r"(Status|Status_t|status_t|Result_t|Error_t)$", result) else "0"
    call = f"{real};" if result == "void" else f"const {result} status = {real};"
    ending = "" if result == "void" else "\n\treturn status;"
    body = "".join(f"\t\t{line};\n" for line in lines)
    body = f"\t\tstruct tfs_details details;\n\n{body}\t\ttfs_hook_details(&frame, &details);\n"
    if kind == "gemm":
        body = f"\t\t{product(parameters)};\n"
    return f"""TFS_HOOK({result}, {name}, ({declared}))
{{
	struct tfs_frame frame = TFS_ENTER({name});
	{call}

	if (TFS_END(&frame, {status}, 0)) {{
{body}	}}
	TFS_LEAVE(&frame);{ending}
}}
""", header


def main():
    listing, out, folder, *written = sys.argv[1:]
    library, headers, rows = read(listing)
    taken = {name for path in written for name in re.findall(r"\bX\((\w+),", open(path).read())}
    known = prototypes([place(folder, header) for header in headers])
    family = re.sub(r".*/|\.txt$", "", listing)
    blocks, hooks, needed = [], [], {"shim/record/hook.h", "shim/hooks/notes.h", "shim/state/streams.h"}
    for pattern, kind, how in rows:
        base = re.sub(r"_pt[sd][sz]$", "", pattern)
        twin = pattern[len(base):]
        names = [n for n in sorted(known) if fnmatch.fnmatchcase(n, base) and n + twin not in taken]
        if not names:
            sys.exit(f"{listing}: {pattern}: declared nowhere, or has a block of its own")
        for name in names:
            taken.add(name + twin)
            text, header = block(name + twin, *known[name], how, "true" if twin else "false")
            needed.add(header or "shim/record/hook.h")
            blocks.append(text)
            hooks.append((name + twin, kind))
    with open(out, "w") as file:
        file.write("/* Made by generate.py. */\n")
        file.writelines(f"#include <{header}>\n" for header in headers)
        file.writelines(f'#include "{header}"\n' for header in sorted(needed))
        file.write(f"\n#define TFS_THIS_LIBRARY TFS_LIBRARY_{library}\n"
                   '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n\n')
        file.write("\n".join(blocks))
        rows = " ".join(f"\\\n\tX({name}, {kind})" for name, kind in hooks)
        file.write(f"\n#define FUNCTIONS(X) {rows}\n\nFUNCTIONS(TFS_FUNCTION_ROW)\n")


if __name__ == "__main__":
    main()
