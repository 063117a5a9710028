"""The arithmetic of a worker: the environment in which its BLAS and its NumPy start.

OpenBLAS and NumPy choose their kernels by the processor, kernels differ in the last bit, and a search may amplify that
bit. With the arithmetic that every x86-64 processor with AVX2 has, the bit is the same on all of them.
"""

from __future__ import annotations

import os
import platform

import numpy as np

X86_64 = ("x86_64", "AMD64")
AVX2 = ("AVX2", "X86_V3")  # the name until NumPy 2.3, and since
BEYOND = ("AVX512", "X86_V4")  # prefixes of the features that only some processors with AVX2 have


def steady() -> dict[str, str]:
    """Variables for the arithmetic of every x86-64 processor with AVX2; empty elsewhere, or if the user has chosen.

    Haswell was the first of them; on an older processor its kernels crash. NumPy warns of a feature that it cannot
    switch off, or does not start, so only those that it found are named.
    """
    features = np.show_config(mode="dicts")["SIMD Extensions"]
    found = features.get("found", [])
    if platform.machine() not in X86_64 or not {*features.get("baseline", []), *found}.intersection(AVX2):
        return {}
    beyond = " ".join(feature for feature in found if feature.startswith(BEYOND))
    values = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": beyond}
    return {name: value for name, value in values.items() if value and name not in os.environ}
