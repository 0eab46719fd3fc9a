"""The texts below were printed by PyTorch 2.13."""

import numpy as np
import pytest
from numpy import arange, array, inf, nan, zeros

from chainrule.core import dtype as dtypes
from chainrule.core.printing import (
    format_element,
    get_printoptions,
    printoptions,
    set_printoptions,
    tensor_text,
)

u1, u8, i4, i8, f2, f4, f8, c8, c16 = (np.dtype(c) for c in "u1 u8 i4 i8 f2 f4 f8 c8 c16".split())


@pytest.fixture(autouse=True)
def keep_options():
    options, default = get_printoptions(), dtypes.get_default_dtype()
    yield
    set_printoptions(**options)
    dtypes.set_default_dtype(default)


def text(a, **more):
    return tensor_text(a, dtypes.of(a.dtype), **more)


CASES = [
    (array(1.5, f4), "tensor(1.5000)"),
    (array(3.0, f4), "tensor(3.)"),
    (array(7), "tensor(7)"),
    (array(True), "tensor(True)"),
    (array(1 + 2j, c8), "tensor(1.+2.j)"),
    (array(nan, f8), "tensor(nan, dtype=torch.float64)"),
    (array([1.0, 2.0, 3.0], f4), "tensor([1., 2., 3.])"),
    (array([0.1, 2.0, 3.0], f8), "tensor([0.1000, 2.0000, 3.0000], dtype=torch.float64)"),
    (array([0.0, -0.0], f4), "tensor([0., -0.])"),
    (array([1, -200, 3], i8), "tensor([   1, -200,    3])"),
    (array([1, -200, 3], i4), "tensor([   1, -200,    3], dtype=torch.int32)"),
    (array([True, False]), "tensor([ True, False])"),
    (array([1.0, inf, -inf, nan], f4), "tensor([1., inf, -inf, nan])"),
    (array([0.5, inf, -inf, nan], f4), "tensor([0.5000,    inf,   -inf,    nan])"),
    (array([nan, 0.0], f4), "tensor([nan, 0.])"),
    (array([1000.0, 1.0], f4), "tensor([1000.,    1.])"),
    (array([1001.0, 1.0], f4), "tensor([1.0010e+03, 1.0000e+00])"),
    (array([1e8], f4), "tensor([100000000.])"),
    (array([2e8], f4), "tensor([2.0000e+08])"),
    (array([1e-4], f8), "tensor([0.0001], dtype=torch.float64)"),
    (array([9e-5], f8), "tensor([9.0000e-05], dtype=torch.float64)"),
    (array([9e-5], f4), "tensor([9.0000e-05])"),
    (array([1e10, 1.0, 2.5], f4), "tensor([1.0000e+10, 1.0000e+00, 2.5000e+00])"),
    (array([65504.0, 6e-8], f2), "tensor([6.5504e+04, 5.9605e-08], dtype=torch.float16)"),
    (array([5e-324, 1.7e308], f8), "tensor([4.9407e-324, 1.7000e+308], dtype=torch.float64)"),
    (array([1e-45, 0.0], f4), "tensor([1.4013e-45, 0.0000e+00])"),
    (array([-(2**63), 2**63 - 1], i8), "tensor([-9223372036854775808,  9223372036854775807])"),
    (array([255, 0], u1), "tensor([255,   0], dtype=torch.uint8)"),
    (array([2**64 - 1], u8), "tensor([18446744073709551615], dtype=torch.uint64)"),
    (array([1 + 2j, -0.5 - 1j], c8), "tensor([ 1.0000+2.j, -0.5000-1.j])"),
    (array([1 + 2j, 3 - 4j], c16), "tensor([1.+2.j, 3.-4.j], dtype=torch.complex128)"),
    (array([complex(nan, -inf), 1], c8), "tensor([nan-infj, 1.+0.j])"),
    (array([complex(1e9, 1), complex(-0.0, -0.0)], c8), "tensor([1.0000e+09+1.j, -0.0000e+00-0.j])"),
    (zeros(0, f4), "tensor([])"),
    (zeros(0, i8), "tensor([], dtype=torch.int64)"),
    (zeros((2, 0), f4), "tensor([], size=(2, 0))"),
    (zeros((0, 3), f8), "tensor([], size=(0, 3), dtype=torch.float64)"),
    (zeros((2, 0, 3), bool), "tensor([], size=(2, 0, 3), dtype=torch.bool)"),
    (
        arange(6, dtype=f4).reshape(2, 3),
        "tensor([[0., 1., 2.],\n        [3., 4., 5.]])",
    ),
    (
        arange(8, dtype=i8).reshape(2, 2, 2),
        "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])",
    ),
    (
        arange(4, dtype=f8).reshape(1, 2, 1, 2) / 4,
        "tensor([[[[0.0000, 0.2500]],\n\n         [[0.5000, 0.7500]]]], dtype=torch.float64)",
    ),
    (
        arange(30, dtype=f4),
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
        "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n"
        "        28., 29.])",
    ),
    (
        arange(25, dtype=f8),
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
        "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24.],\n"
        "       dtype=torch.float64)",
    ),
    (arange(1001, dtype=f4), "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])"),
    (
        arange(2000, dtype=f4).reshape(2, 1000),
        "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9700e+02, 9.9800e+02,\n"
        "         9.9900e+02],\n"
        "        [1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.9970e+03, 1.9980e+03,\n"
        "         1.9990e+03]])",
    ),
    (
        arange(1400, dtype=i8).reshape(7, 200),
        "tensor([[   0,    1,    2,  ...,  197,  198,  199],\n"
        "        [ 200,  201,  202,  ...,  397,  398,  399],\n"
        "        [ 400,  401,  402,  ...,  597,  598,  599],\n"
        "        ...,\n"
        "        [ 800,  801,  802,  ...,  997,  998,  999],\n"
        "        [1000, 1001, 1002,  ..., 1197, 1198, 1199],\n"
        "        [1200, 1201, 1202,  ..., 1397, 1398, 1399]])",
    ),
]


@pytest.mark.parametrize(("elements", "expected"), CASES, ids=range(len(CASES)))
def test_text(elements, expected):
    assert text(elements) == expected


def test_every_long_dimension_is_cut():
    block = "[[0,  ..., 0],\n         ...,\n         [0,  ..., 0]]"
    with printoptions(edgeitems=1):
        assert text(zeros((12, 10, 10), i8)) == f"tensor([{block},\n\n        ...,\n\n        {block}])"
        assert text(zeros((2, 600), i8)) == "tensor([[0,  ..., 0],\n        [0,  ..., 0]])"


def test_strides_do_not_matter():
    a = arange(24, dtype=f4).reshape(2, 3, 4)
    for view in (a.T, a[:, ::-1], np.broadcast_to(a[0], (500, 3, 4)), a.T[::2]):
        assert text(view) == text(view.copy())


def test_sixty_dimensions():
    assert text(zeros((1,) * 60, f4)) == "tensor(" + "[" * 60 + "0." + "]" * 60 + ")"


SMALL = array([0.00005, 123.456, 7.0], f4)
TWELVE = arange(12, dtype=f4).reshape(3, 4)
OPTIONS = [
    ({"precision": 2}, SMALL, "tensor([5.00e-05, 1.23e+02, 7.00e+00])"),
    ({"precision": 0}, SMALL, "tensor([5e-05, 1e+02, 7e+00])"),
    ({"precision": 0}, array([0.5, 1.5], f4), "tensor([0, 2])"),
    ({"profile": "short"}, SMALL, "tensor([5.00e-05, 1.23e+02, 7.00e+00])"),
    ({"profile": "SHORT", "precision": 1}, SMALL, "tensor([5.0e-05, 1.2e+02, 7.0e+00])"),
    ({"sci_mode": True}, SMALL, "tensor([5.0000e-05, 1.2346e+02, 7.0000e+00])"),
    ({"sci_mode": False}, SMALL, "tensor([  0.0000, 123.4560,   7.0000])"),
    ({"sci_mode": True}, array([0.0, inf], f4), "tensor([0., inf])"),
    ({"linewidth": 30}, SMALL, "tensor([5.0000e-05,\n        1.2346e+02,\n        7.0000e+00])"),
    (
        {"threshold": 5, "edgeitems": 1},
        TWELVE,
        "tensor([[ 0.,  ...,  3.],\n        ...,\n        [ 8.,  ..., 11.]])",
    ),
    ({"threshold": 5, "edgeitems": 0}, TWELVE, "tensor([...], size=(3, 4))"),
    ({"edgeitems": 0}, array([0.0, 1.0], f8), "tensor([0., 1.], size=(2,), dtype=torch.float64)"),
]


@pytest.mark.parametrize(("options", "elements", "expected"), OPTIONS)
def test_options(options, elements, expected):
    set_printoptions(**options)
    assert text(elements) == expected


def test_full_profile_cuts_nothing():
    assert "..." in text(zeros(1001, f4))
    set_printoptions(profile="full")
    assert text(zeros(1001, f4)).count("0.") == 1001


def test_each_call_resets_sci_mode_and_leaves_the_rest():
    set_printoptions(precision=2, sci_mode=True)
    set_printoptions(threshold=10)
    expected = {"precision": 2, "threshold": 10, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
    assert get_printoptions() == expected


def test_printoptions_are_restored_after_an_error():
    before = get_printoptions()
    with pytest.raises(ZeroDivisionError), printoptions(precision=1, sci_mode=False):
        assert get_printoptions() != before
        1 / 0
    assert get_printoptions() == before


@pytest.mark.parametrize(
    ("default", "half", "single", "double", "complex64", "complex128", "empty"),
    [
        ("float16", "", ", dtype=torch.float32", ", dtype=torch.float64", "", ", dtype=torch.complex128", "float64"),
        ("float32", ", dtype=torch.float16", "", ", dtype=torch.float64", "", ", dtype=torch.complex128", "float64"),
        ("float64", ", dtype=torch.float16", ", dtype=torch.float32", "", ", dtype=torch.complex64", "", None),
    ],
)
def test_the_default_dtype_is_not_shown(default, half, single, double, complex64, complex128, empty):
    dtypes.set_default_dtype(dtypes.DTYPES[default])
    assert text(array([0.5], f2)) == f"tensor([0.5000]{half})"
    assert text(array([0.5], f4)) == f"tensor([0.5000]{single})"
    assert text(array([0.5], f8)) == f"tensor([0.5000]{double})"
    assert text(array([1j], c8)) == f"tensor([0.+1.j]{complex64})"
    assert text(array([1j], c16)) == f"tensor([0.+1.j]{complex128})"
    assert text(array([], f8)) == ("tensor([])" if empty is None else f"tensor([], dtype=torch.{empty})")


def test_what_autograd_adds():
    two = array([1.0, 2.0], f4)
    assert text(two, requires_grad=True) == "tensor([1., 2.], requires_grad=True)"
    assert text(two, requires_grad=True, grad_fn_name="AddBackward0") == "tensor([1., 2.], grad_fn=<AddBackward0>)"
    assert text(arange(8) / 7, grad_fn_name="CloneBackward0") == (
        "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000],\n"
        "       dtype=torch.float64, grad_fn=<CloneBackward0>)"
    )


def test_lines_are_indented_to_the_end_of_the_prefix():
    assert text(arange(12) / 7, requires_grad=True, prefix="Parameter containing:\ntensor(") == (
        "Parameter containing:\n"
        "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
        "        1.2857, 1.4286, 1.5714], dtype=torch.float64, requires_grad=True)"
    )
    assert text(zeros((2, 1), f4), prefix="My(") == "My([[0.],\n    [0.]])"


def test_format_element():
    assert format_element(array(0.1, f4), "") == "0.10000000149011612"
    assert format_element(array(1.5, f4), ".3f") == "1.500"
    assert format_element(array(3), ">4d") == "   3"
    assert format_element(array(1 + 2j, c8), "") == "(1+2j)"
    with pytest.raises(ValueError, match="Unknown format code 'd' for object of type 'float'"):
        format_element(array(1.5, f4), "d")
