"""Finished cells of the registered methods are found again, whatever is renamed since."""

import pytest

from colabel.lab import METHODS, Search, identity, variant_of

# Keys of the methods as 0.1 has run them. A new name of a class or a parameter must not change
# them: ``colabel.lab.identity`` lists former names.
KEYS = {
    "br": "add98fc0466f94c3f0638116564d1f02",
    "br-gb": "d9c2d914e9cc58a4cf5aaf182ed7b6e3",
    "ovr-svm": "c6dbb530efae0f11a14814de775e742f",
    "powset": "9a684541917abc897e7c5c994f029e9e",
    "powset-gb": "278b2cc75853769ab52bb293de9cfe06",
    "cc": "6bcdfbb21bbee1b2f66731453048d416",
    "pcc": "f717bd8132921fad33ad26cfcc5850f7",
    "ecc-label": "d197c3c0e8560de422d22c1ac012dcc2",
    "ecc-subset": "b4bce31f41377413e1ffb86b00997eb5",
    "cdn": "370802e366e2ba1918424c87d6f92ff6",
    "rakel": "76b86befbede705410f54dc2b7bf51c0",
    "pair-crf": "7c9d0a149ad4e2518666604e1a1b9cc0",
    "sml": "9ea7e47fbcdca3778cda4d9b308190da",
    "rml": "5600eba541ff78bc4de1759f865653a9",
    "quad-exact": "7bd9e8d9984eadad0833d85848c8b278",
    "quad-mincut": "9cf9ea4ce83987f7cdf6f61679e44819",
    "quad-sdp": "6dfb9407cae56c4fea888b34f0c03c46",
    "quad-spectral": "07ea9c8a795bc1af5bed76cd92b41bd4",
    "lmknn": "15e204b041067b12bc41dd99cc9ac919",
    "knn": "9ac7037710d04b9ae78824bb230c146c",
    "mlknn": "2d672c66862bb77c1fffd15a83232c89",
    "cbm-lr": "86c8796c2ae9eafd81c6327ff12c06c4",
    "cbm-gb": "1a15fddd951c107bd8db4e9d8ba64402",
    "plst": "5f7bca49b0528ba418fa575983e4b9e5",
    "cplst": "a3e1731993f3e2ee16cb91ef79d20d4a",
    "cca": "14eeea85b32b213b77bb5f6351faa8e2",
    "mmoc": "36319ab8bee31340c9ffc8c5846ca73b",
    "indep": "9d61d3073d2733c5393b0fe791ae2319",
    "cooc": "39993496e3568297790e0d1c9a9c86fd",
    "stacking": "b2199c2cf582ef515e581fd3472abc0e",
    "dsml": "6ba2cad0408fc8710d0b5ee6a56c4df6",
    "coupled": "a8171aa040efe5c3c92ee1a718bc8c64",
    "mlrbf": "ebebfc42139096e9b5d5439609c1c5eb",
    "bpmll": "b0795f3bf480ce32f360e502623a3ae1",
    "ranksvm": "e75c7d0655f9b52694c19efe6affa8d3",
}
SEARCHED = {
    "br": "bfed350446f7b5924fa8695c18db6cad",
    "dsml": "1e874b7ab9af7052f04f76bb51e4237b",
}


@pytest.mark.parametrize("name", KEYS)
def test_a_registered_method_has_the_key_it_always_had(name):
    assert variant_of(name).key == KEYS[name]


@pytest.mark.parametrize("name", SEARCHED)
def test_a_searched_method_has_the_key_it_always_had(name):
    assert variant_of(name, Search()).key == SEARCHED[name]


def test_every_method_of_then_is_there():
    assert KEYS.keys() <= METHODS.keys()


def test_renamed_parameters_and_classes_keep_their_former_names(monkeypatch):
    path = identity.describe(METHODS["br"].build())["class"]

    def former(params):
        return {**{k: v for k, v in params.items() if k != "n_jobs"}, "workers": params["n_jobs"]}

    monkeypatch.setitem(identity.FORMER_PATHS, path, "colabel.relevance.Binary")
    monkeypatch.setitem(identity.FORMER_PARAMETERS, "colabel.relevance.Binary", former)
    found = identity.describe(METHODS["br"].build())
    assert found["class"] == "colabel.relevance.Binary"
    assert ["workers", None] in found["params"]["pairs"]
