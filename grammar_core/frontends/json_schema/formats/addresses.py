"""Addresses of hosts and mailboxes: RFC 1123, RFC 2673, RFC 4291, RFC 5321."""

from __future__ import annotations

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"

_GROUP = "[0-9A-Fa-f]{1,4}"
_GROUPS = 8


def _ipv6(min_zeros: int) -> str:
    """Addresses whose `::` stands for at least so many groups of zeros."""
    full = [f"{_GROUP}(?::{_GROUP}){{7}}", f"{_GROUP}(?::{_GROUP}){{5}}:{IPV4}"]
    short = []
    for before in range(_GROUPS - min_zeros + 1):
        front = f"{_GROUP}(?::{_GROUP}){{{before - 1}}}" if before else ""
        behind = _GROUPS - min_zeros - before
        options = [""] if behind >= 0 else []
        if behind >= 1:
            options.append(f"{_GROUP}(?::{_GROUP}){{0,{behind - 1}}}")
        if behind >= 2:
            options.append(f"(?:{_GROUP}:){{0,{behind - 2}}}{IPV4}")
        short.append(f"{front}::(?:{'|'.join(options)})")
    return f"(?:{'|'.join(full + short)})"


IPV6 = _ipv6(1)

_LETTER_OR_DIGIT = "[A-Za-z0-9]"
_LABEL = f"{_LETTER_OR_DIGIT}(?:[A-Za-z0-9-]{{0,61}}{_LETTER_OR_DIGIT})?"
HOSTNAME = rf"{_LABEL}(?:\.{_LABEL})*"

_SUBDOMAIN = f"{_LETTER_OR_DIGIT}(?:[A-Za-z0-9-]*{_LETTER_OR_DIGIT})?"
_DOMAIN = rf"{_SUBDOMAIN}(?:\.{_SUBDOMAIN})*"
_SHORT_OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})"
_ADDRESS_LITERAL = rf"\[(?:{_SHORT_OCTET}(?:\.{_SHORT_OCTET}){{3}}|[Ii][Pp][Vv]6:{_ipv6(2)})\]"


def mailbox(more_characters: str, more_labels: str) -> str:
    """Mailboxes; what is added to the characters of local parts, as members of a class, and to the labels."""
    atom = rf"[A-Za-z0-9!#$%&'*+\-/=?^_`{{|}}~{more_characters}]+"
    quoted = rf'"(?:[ !#-\[\]-~{more_characters}]|\\[ -~])*"'
    label = f"(?:{_SUBDOMAIN}{more_labels})"
    domain = rf"{label}(?:\.{label})*"
    return rf"(?:{atom}(?:\.{atom})*|{quoted})@(?:{domain}|{_ADDRESS_LITERAL})"


EMAIL = mailbox("", "")
