"""The audit of the CUDA module, which CI runs where there is a compiler: it sees what is missing."""

import audit_cuda as audit
import pytest

TARGETS = sorted(audit.TARGETS)
NAMES = {"_Zpad": "pad", "_Zscan": "ScanBody<Sum>", "_Zsoft": "SoftmaxBody<float>"}


def resources(kernels, targets=TARGETS):
    """What `cuobjdump -res-usage` prints of kernels, given as their bytes of stack."""
    lines = []
    for target in targets:
        lines += ["", "Fatbin elf code:", "================", f"arch = sm_{target}", "", "Resource usage:"]
        lines += [" Common:", "  GLOBAL:0"]
        for name, stack in kernels.items():
            lines += [f" Function {name}:", f"  REG:50 STACK:{stack} SHARED:0 LOCAL:0 CONSTANT[0]:1520"]
    return "\n".join(lines)


def ptx(names, target=120):
    entries = "\n".join(f".visible .entry {name}(\n.param .u64 x\n)" for name in names)
    return f"arch = sm_{target}\ncompressed\n\n.version 9.0\n.target sm_{target}\n{entries}\n"


STACKS = {"_Zpad": 0, "_Zscan": 32, "_Zsoft": 32}


def faults_of(resources, ptx):
    kernels = audit.kernels_in(resources)
    return audit.missing_kernels(kernels, audit.ptx_in(ptx)) + audit.deep_stacks(kernels, NAMES)


def test_whole_module_has_no_faults():
    assert faults_of(resources(STACKS), ptx(STACKS)) == []


@pytest.mark.parametrize("target", TARGETS)
def test_target_that_is_left_out_is_named(target):
    rest = [each for each in TARGETS if each != target]
    assert faults_of(resources(STACKS, rest), ptx(STACKS)) == [f"sm_{target}: no kernel is built for it"]


def test_missing_ptx_is_named():
    assert faults_of(resources(STACKS), "") == ["PTX of sm_120: no kernel is built for it"]
    assert faults_of(resources(STACKS), ptx(STACKS, 90)) == ["PTX of sm_120: no kernel is built for it"]
    assert faults_of(resources(STACKS), ptx(["_Zpad", "_Zscan"])) == ["PTX of sm_120: there is no _Zsoft"]


def test_some_targets_are_audited_alone():
    kernels, code = audit.kernels_in(resources(STACKS, [75])), audit.ptx_in(ptx(STACKS))
    assert audit.missing_kernels(kernels, code, ["75-real", "120-virtual"]) == []
    assert audit.missing_kernels(kernels, code, ["90-real"]) == ["sm_90: no kernel is built for it"]


def test_kernel_that_a_target_lacks_is_named():
    listing = resources(STACKS) + resources({"_Zmore": 0}, [90])
    faults = faults_of(listing, ptx([*STACKS, "_Zmore"]))
    assert faults == [f"sm_{each}: there is no _Zmore" for each in TARGETS if each != 90]


def test_stacks_that_are_not_listed_are_named():
    found = faults_of(resources(STACKS | {"_Zpad": 8, "_Zscan": 40}), ptx(STACKS))
    assert f"sm_{TARGETS[0]}: 8 bytes of stack, 0 at most: pad" in found
    assert f"sm_{TARGETS[-1]}: 40 bytes of stack, 32 at most: ScanBody<Sum>" in found
    assert len(found) == 2 * len(TARGETS)


def test_list_of_stacks_holds_what_is_needed_alone():
    (fault,) = faults_of(resources(STACKS | {"_Zsoft": 0}), ptx(STACKS))
    assert fault.startswith("STACKS: no kernel needs")
    assert "SoftmaxBody" in fault


def test_module_without_kernels_is_refused():
    assert audit.missing_kernels({}, {}) == ["no kernel was found in the module"]


def test_bytes_are_told_by_noun():
    lines = audit.table_of({"pad": 10, "reduce": 60}, 100, 71)
    assert [line.split("%")[1].strip() for line in lines] == [
        "reduce",
        "pad",
        "between them",
        "host code, CUDA's runtime",
    ]
    assert [int(line.split()[0]) for line in lines] == [60, 10, 1, 29]
