from nutgraf.report.markup import Markup, joined, tag, text


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p.note.small", "5 < 6 & ", tag("b", '"')) == (
        '<p class="note small">5 &lt; 6 &amp; <b>&quot;</b></p>'
    )  # fmt: skip
    assert tag("a", "x", at={"href": '"><script>'}) == '<a href="&quot;&gt;&lt;script&gt;">x</a>'
    assert joined(["<", Markup("<br>")]) == "&lt;<br>"


def test_what_no_page_may_hold_is_replaced() -> None:
    assert text("a\x00b\x1b\ud800c\tå") == "a\ufffdb\ufffd\ufffdc\tå"
