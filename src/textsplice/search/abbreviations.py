"""Abbreviations, and what a full stop after each of them means. To teach one, add it to a list.

Words are in lower case, without their last full stop. Lists of several languages stand together: the rules
about sentences do not know the language of a text.
"""

from __future__ import annotations

from enum import IntEnum


class Stop(IntEnum):
    """What a full stop after a word means."""

    PLAIN = 0  # it ends the sentence
    OPEN = 1  # it ends the sentence if a capital follows: "5 p.m. Dogs …", "Acme Inc. has …"
    NUMBER = 2  # it ends the sentence unless a number follows: "No. 5", "the answer is no. It …"
    NAME = 3  # it ends the sentence only before a word that begins sentences: "Dr. Hall", "Mill St. It …"
    NEVER = 4  # it ends no sentence but the last: "e.g. this"
    UNIT = 5  # as OPEN after a number ("5 ft. wide"), else as PLAIN
    LETTER = 6  # a small letter by itself: "p.m.", "z.B."


_NAME = """
    dr drs mr mrs ms mx messrs prof profs rev revd fr hon st ste sts mt gen col maj capt cpt cmdr lt
    sgt cpl pvt adm gov sen supt insp amb atty dist ave blvd rd ln hwy ph mme mmes mlle mlles mgr mons
    dña sr sra srta sres avda av bd univ frl dipl ing dott dottssa sig sigg signora str pl bzw evtl
    ggf inkl exkl vgl hrsg dhr mevr ir ul tzn np mudr judr пр проф акад им ул просп гр тов стр тел г д
    кв корп св см рис обл р κ κα δρ αγ डॉ श्री د أ ا ד
"""
_OPEN = """
    etc inc ltd corp llc plc gmbh bros jr snr esq dept est approx appx tel ext eds resp
    misc al sc jan feb apr jun jul aug sept oct nov dec tue tues thu thur thurs fri ecc usw enz itd итд
    др пр тыс млн млрд руб коп эт янв февр апр авг сент окт нояб дек u.s.w
"""
# Small words too, so they count only where they are written with a capital: "on Sat. and", "he sat. it was".
_OPEN_IF_CAPITAL = "mar sep"
_NAME_IF_CAPITAL = "hr ft mon tue tues wed thu thur thurs fri sat sun co"
_NUMBER = """
    no nos nr num núm n vol vols p pp pg pgs pag pág fig figs art arts sec sect ch chap op par para app
    vers v ver max c ca circa cca env № стр гл ст п abs bd abb kap tab s
"""
_NEVER = """
    e.g i.e eg ie a.k.a k.a p.s n.b incl excl cf viz vs www z.b d.h u.a o.ä s.o s.u p.ex bijv т.е т.н т.к t.j
    tj π.χ
"""
_DOTTED_OPEN = "p.m a.m b.c a.d c.e p.a m.p.h т.д т.п u.s.w e.v"
_UNITS = """
    ft in yd yds mi m km cm mm kg g mg lb lbs oz pt qt gal sq cu hr hrs h min mins sec secs wk wks mo
    mos yr yrs kcal
"""

MEANING: dict[str, Stop] = {
    **dict.fromkeys(_UNITS.split(), Stop.UNIT),
    **dict.fromkeys(_OPEN.split(), Stop.OPEN),
    **dict.fromkeys(_NAME.split(), Stop.NAME),
    **dict.fromkeys(_NUMBER.split(), Stop.NUMBER),
    **dict.fromkeys(_DOTTED_OPEN.split(), Stop.OPEN),
    **dict.fromkeys(_NEVER.split(), Stop.NEVER),
}
IF_CAPITAL: dict[str, Stop] = {
    **dict.fromkeys(_OPEN_IF_CAPITAL.split(), Stop.OPEN),
    **dict.fromkeys(_NAME_IF_CAPITAL.split(), Stop.NAME),
}

# Words that begin a sentence after an abbreviation, since no name has them; "He" is missing: "Dr. He".
STARTERS = frozenset(
    """
    it its it's the this that these those there they their we our you your she his her when where while
    if as at on for with from but and or however also both each all some many most since after before
    although because here what der die das dieser diese dieses sie wir er ihr ein eine les la le il elle
    ils elles cette ces el los las ella esta este lo gli questo questa он она они это эта этот мы вы
    """.split()
)
# The last part of an address or of a file's name. None is a word, since tokens do not show that there is no
# space before it: "mill.xyz" and "mill. shop" are alike.
DOMAINS = frozenset(
    """
    com org net edu gov io co uk de fr eu info xyz biz nl pl ru cn jp kr br nz ua cz sk hu ro bg gr dk fi
    html htm php pdf txt jpg jpeg png gif svg csv json xml yaml yml toml doc docx xls xlsx pptx zip js py
    css exe mp
    """.split()
)
MONTHS = frozenset(
    """
    januar februar märz april mai juni juli august september oktober november dezember januari februari
    mars maj juin juillet janvier février avril août septembre octobre novembre décembre leden jänner
    """.split()
)
