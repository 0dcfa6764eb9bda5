"""Everyday strings of many kinds and scripts, which must be said as they are written."""

from __future__ import annotations

from textsplice.text import normalize

EVERYDAY = """
AT&T www.mill-lane.com|5–7 p.m.|info@mill.org|5°C|R&B|24/7|#1|C#|C++|F♯
http://a.b/c?d=e&f=g|1990–2000
«hi»|« hi »
O'Neill's|e.g., this|<b>bold</b>|i.e.|U.S.A.|a.m./p.m.|50% off|50 %|$5.99
£20-25|€1.000,50|20 €|¥500
1,000,000|3.14
-5|−5 °C|+44 (0)20 7946 0958|(555) 010-9999|1:30–2:45|10:30am|9.30 Uhr|1/2
½ cup|x²|H₂O|CO₂|m/s|km/h|10^6
a=b|x<y|y>=z
a_b|snake_case.py|~user|C:\\temp\\new|/usr/bin|../up|.NET|Node.js|ASP.NET
@home|@mill_lane|#hashtag
foo#bar|user+tag@mill.org
"quoted"|'single'|“curly”|‘curly’|„unten“|‹eins›|rock 'n' roll|'tis|dogs'
5'10"|12"|James'|the '90s
's-Hertogenbosch|Hallowe'en
Yahoo!|Who?|What?!|Wait...|...and then|well…|A—B|A — B|A -- B|A–B
well-known|co-op|self- and co-owned
pre-|-ish|and/or|w/ milk
[sic]|{x}|f(x)|(free)|a(b)c|(see p. 5)|* note|5*|**bold**|`code`|a|b
No. 5|Dr. Hall|St. John's|J. R. R. Tolkien|Ph.D.|vs.|etc.|Inc.,|v1.2.3
1.2.3.4:80|::1|12:00:00.000
2024-05-01T10:00Z|100km|3rd|1st/2nd
™ Mill®|© 2024|§ 5|¶|†|No.5|№ 5|5★|★★★☆☆|♥|→ exit|A→B|✓ yes|• item|·|a·b|º
ª
患者被给予250毫克静脉注射头孢。|北京市|ラーメン屋さん|「東京」タワー|東京 Tower|iPhone用ケース
第1章：始まり|한국어 텍스트|서울시, 강남구
สวัสดีครับ|ราคา 50 บาท|ភាសាខ្មែរ|ພາສາລາວ|မြန်မာဘာသာ|हिन्दी में|क्‍ष
বাংলা ভাষা।|தமிழ்|తెలుగు
مرحبا، كيف الحال؟|می‌خواهم|שלום, עולם!|צה"ל|ქართული|Ελληνικά;|Привет, мир!
«Мир»|Հայերեն։|አማርኛ።
👍🏽 ok|👨‍👩‍👧|🇩🇪🇫🇷|1️⃣|❤️|🏴󠁧󠁢󠁥󠁮󠁧󠁿|☕, 🍰|café|naïve|Ångström|Łódź|İstanbul|ﬁne
US$1,299.00|R$ 10|CHF 5.–|kr 100,-|₿0.5|12¢|20p|₹1,00,000|5 lb 3 oz|6′2″
37.5 °C|pH 7.4|10 µm|5 Ω|100 Mbit/s|1.5×10⁻³
+1-555-010-9999|0800 123 456|tel:+49-30-1234|ISBN 978-3-16-148410-0
978–3–16|EAN: 400638133393|9:00–17:30|9h30|7.30pm
12/31/1999|31.12.1999|1999-12-31|’99|1990s|May 5th, 2001|¾|2⅓|1⁄2|3:1
C₆H₁₂O₆|NaCl(aq)|H⁺|Fe³⁺|x = y + 2|a²+b²=c²|∑ᵢ xᵢ|π≈3.14
√2|x∈ℝ|A∪B|¬p|p⇒q|f'(x)|∂f/∂x|foo(bar, baz)|a[0]|x->y|a::b|if (a != b) {}
i++|--help|-v|$HOME|%APPDATA%|<!-- x -->|&amp;|\\n
~/.bashrc|C:\\Program Files (x86)\\|file:///srv/a%20b|ftp://x.y:21/
mailto:a@b.c|a.b+c@d-e.co.uk|#Möbel|#東京|@user_name!|r/pics|u/me
»hallo«|‚so‘|「はい」|『本』|《书》|〈x〉|“a ‘b’ c”|"a 'b' c"|J.R.R. Tolkien
A. A. Milne|W.-H. Ng|de l'eau|aujourd'hui|l’été|qu’il
d'Artagnan|ʻokina|Hawaiʻi|שלום 123 עולם|מחיר: 50₪|السعر ٥٠ ريال|رقم 12-34
۱۲٫۵|ক্ষ|श्री|क्षत्रिय|ज्ञ|तमिऴ्|ไทย 4.0|ก็ได้|น้ำ|ខ្ញុំ|ស្រី
TシャツM|Wi-Fi対応|500円|3月5日|第2回|ｶﾞｲﾄﾞ|한글2024|서울(강남)|12시 30분|👩🏽‍🚀|🏳️‍🌈|🇯🇵 Tokyo
#️⃣|*️⃣|👋🏿👋|a🏽|☎️ 555|❤️‍🔥|ö|ǖ|ẹ́|n̈|Z͑ͫ
Straße|ŒUVRE|ĳs|ǅ|Ǆ|ﬀ|①②|Ⅷ|㎏|℃|№5|℡|…so|so…|a…b|?!|¿Qué?|¡Olé!|- x|x -|– x
x –|( x )|[ x ]|" x "|' x '|a , b|a . b|. a|a ;b
"""
STRINGS = list(
    dict.fromkeys(
        normalize(piece) for line in EVERYDAY.split("\n") for piece in line.split("|") if piece.strip()
    )
)
