/** Decodes HTML character references. An unknown one stays unchanged. */
export const decodeEntities = (text: string): string =>
  text.includes("&")
    ? text.replaceAll(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z]\w{1,31}));?/g, (match, decimal, hex, name) => {
        if (name !== undefined) return decodeNamed(String(name), match);
        return decodeNumeric(decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal));
      })
    : text;

/** Only the oldest names are valid without a semicolon. */
const decodeNamed = (name: string, match: string): string => {
  const code = entities.get(name);
  const isClosed = match.endsWith(";") || (code !== undefined && (code < 256 || name === "quot"));
  return code === undefined || !isClosed ? match : String.fromCodePoint(code);
};

const decodeNumeric = (code: number): string => {
  // Numbers in the range of C1 controls mean windows-1252 characters. Decoded in one call, Node 20 leaves them
  // unchanged.
  if (code >= 0x80 && code <= 0x9f)
    return new TextDecoder("windows-1252").decode(new Uint8Array([code]), { stream: true });
  const isNone = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return isNone ? "\ufffd" : String.fromCodePoint(code);
};

/** Names in the order of their code points, from this one on; a dash marks a code point without a name. */
const row = (first: number, names: string): readonly (readonly [string, number])[] =>
  names.split(" ").map((name, at) => [name, first + at]);

/** Names, each followed by its code point. */
const pairs = (text: string): readonly (readonly [string, number])[] =>
  [...text.matchAll(/(\w+) (\d+)/g)].map(([, name = "", code]) => [name, Number(code)]);

const entities: ReadonlyMap<string, number> = new Map([
  ...row(
    160,
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml",
  ),
  ...row(
    913,
    "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega",
  ),
  ...row(
    945,
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega",
  ),
  ...pairs("quot 34 amp 38 apos 39 lt 60 gt 62 AMP 38 LT 60 GT 62 QUOT 34 Tab 9 NewLine 10"),
  ...pairs(
    "excl 33 num 35 dollar 36 percnt 37 lpar 40 rpar 41 ast 42 plus 43 comma 44 period 46 sol 47 colon 58 semi 59",
  ),
  ...pairs("equals 61 quest 63 commat 64 lbrack 91 lsqb 91 bsol 92 rbrack 93 rsqb 93 Hat 94 lowbar 95 grave 96"),
  ...pairs("lbrace 123 lcub 123 vert 124 verbar 124 rbrace 125 rcub 125"),
  ...pairs("OElig 338 oelig 339 Scaron 352 scaron 353 Yuml 376 fnof 402 circ 710 tilde 732"),
  ...pairs(
    "ensp 8194 emsp 8195 thinsp 8201 zwnj 8204 zwj 8205 lrm 8206 rlm 8207 hyphen 8208 dash 8208 ndash 8211 mdash 8212",
  ),
  ...pairs(
    "lsquo 8216 rsquo 8217 sbquo 8218 ldquo 8220 rdquo 8221 bdquo 8222 dagger 8224 Dagger 8225 bull 8226 hellip 8230",
  ),
  ...pairs(
    "permil 8240 prime 8242 Prime 8243 lsaquo 8249 rsaquo 8250 oline 8254 frasl 8260 euro 8364 image 8465 weierp 8472",
  ),
  ...pairs("real 8476 trade 8482 alefsym 8501 larr 8592 uarr 8593 rarr 8594 darr 8595 harr 8596 crarr 8629"),
  ...pairs("lArr 8656 uArr 8657 rArr 8658 dArr 8659 hArr 8660 forall 8704 part 8706 exist 8707 empty 8709 nabla 8711"),
  ...pairs(
    "isin 8712 notin 8713 ni 8715 prod 8719 sum 8721 minus 8722 lowast 8727 radic 8730 prop 8733 infin 8734 ang 8736",
  ),
  ...pairs("and 8743 or 8744 cap 8745 cup 8746 int 8747 there4 8756 sim 8764 cong 8773 asymp 8776 ne 8800 equiv 8801"),
  ...pairs(
    "le 8804 ge 8805 sub 8834 sup 8835 nsub 8836 sube 8838 supe 8839 oplus 8853 otimes 8855 perp 8869 sdot 8901",
  ),
  ...pairs("lceil 8968 rceil 8969 lfloor 8970 rfloor 8971 lang 10216 rang 10217 loz 9674 star 9734 starf 9733"),
  ...pairs("spades 9824 clubs 9827 hearts 9829 diams 9830 check 10003 cross 10007"),
]);
