import { brokenEnd, isLongLine } from './broken-lines.ts';
import type { SecretRule } from './secret-rule.ts';
import type { SecretKind } from './tags.ts';

/** A credential that its beginning gives away: the beginning, the characters after it, and how many there are at least. */
interface TokenShape {
  begins: readonly string[];
  of: string;
  least: number;
  /** Default: `api_key`. */
  kind?: SecretKind;
  /** The characters after the beginning must include a digit, because words could follow it, too. */
  hasDigit?: true;
}

const LETTERS = 'A-Za-z0-9';
const WORDS = 'A-Za-z0-9_-';

/** From the documentation of their makers. */
const SHAPES: readonly TokenShape[] = [
  { begins: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], of: LETTERS, least: 30 },
  { begins: ['github_pat_'], of: 'A-Za-z0-9_', least: 30 },
  { begins: ['glpat-', 'gldt-', 'glrt-', 'glptt-'], of: WORDS, least: 18 },
  {
    begins: ['sk-proj-', 'sk-ant-', 'sk-svcacct-', 'sk-admin-', 'sk-or-', 'sk-lf-'],
    of: WORDS,
    least: 16,
    hasDigit: true,
  },
  { begins: ['sk-'], of: LETTERS, least: 20, hasDigit: true },
  { begins: ['AKIA', 'ASIA', 'ABIA'], of: 'A-Z0-9', least: 16 },
  { begins: ['AIza'], of: WORDS, least: 35 },
  { begins: ['ya29.'], of: WORDS, least: 20 },
  { begins: ['GOCSPX-'], of: WORDS, least: 20 },
  { begins: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xapp-'], of: 'A-Za-z0-9-', least: 16, hasDigit: true },
  { begins: ['npm_'], of: LETTERS, least: 30 },
  { begins: ['pypi-Ag'], of: WORDS, least: 30 },
  { begins: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'], of: 'A-Za-z0-9+/=', least: 16 },
  { begins: ['svc_', 'hgn_', 'hgk_'], of: '0-9a-f', least: 40, kind: 'secret' },
  { begins: ['hf_'], of: LETTERS, least: 30 },
  { begins: ['gsk_', 'xai-', 'pplx-', 'fw_'], of: LETTERS, least: 30 },
  { begins: ['dop_v1_', 'doo_v1_', 'dor_v1_'], of: '0-9a-f', least: 40 },
  { begins: ['SG.'], of: 'A-Za-z0-9_.-', least: 40 },
  { begins: ['hvs.', 'hvb.'], of: WORDS, least: 20 },
  {
    begins: ['glsa_', 'shpat_', 'shpss_', 'dckr_pat_', 'lin_api_', 'figd_', 'PMAK-', 'tskey-auth-', 'tskey-api-'],
    of: WORDS,
    least: 20,
  },
  { begins: ['sntrys_', 'rubygems_', 'dapi'], of: LETTERS, least: 32, hasDigit: true },
  { begins: ['LTAI', 'cio'], of: LETTERS, least: 16, hasDigit: true },
  { begins: ['ATATT3x', 'ATCTT3x', 'ATBB'], of: 'A-Za-z0-9_=-', least: 28, hasDigit: true },
  { begins: ['bkua_', 'sbp_'], of: '0-9a-f', least: 40 },
  {
    begins: ['CCIPAT_', 'CCIPRJ_', 'nfp_', 'nfc_', 'nfo_', 'ntn_', 'glc_', 'sb_secret_'],
    of: 'A-Za-z0-9_=',
    least: 30,
  },
  {
    begins: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_', 'sq0atp-', 'sq0csp-', 'dt0c01.', 'ops_eyJ'],
    of: 'A-Za-z0-9_.=-',
    least: 20,
  },
  { begins: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'], of: LETTERS, least: 40 },
  { begins: ['EAAA'], of: WORDS, least: 56, hasDigit: true },
  { begins: ['NRAK-', 'NRII-', 'NRAA-'], of: LETTERS, least: 20 },
  { begins: ['key-'], of: '0-9a-f', least: 32 },
  { begins: ['sk.eyJ'], of: 'A-Za-z0-9_.-', least: 60 },
  { begins: ['fm2_', 'fo1_'], of: 'A-Za-z0-9+/=_-', least: 40 },
  { begins: ['1//0'], of: WORDS, least: 40 },
  { begins: ['r8_'], of: LETTERS, least: 30 },
  { begins: ['AGE-SECRET-KEY-1'], of: 'A-Z0-9', least: 40, kind: 'private_key' },
  // Hashes of passwords, as in /etc/shadow and .htpasswd: a short password can be found with them.
  {
    begins: ['$2a$', '$2b$', '$2y$', '$apr1$', '$1$', '$5$', '$6$', '$y$', '$argon2id$', '$argon2i$'],
    of: 'A-Za-z0-9./$=,+-',
    least: 28,
    kind: 'password',
  },
  { begins: ['eyJ'], of: 'A-Za-z0-9_=.-', least: 30, kind: 'secret' },
];

interface TokenRow extends Omit<TokenShape, 'begins'> {
  begin: string;
  /** Finds one at a place, as long as it can be, or one that ends with its line. */
  whole: RegExp;
  /** A line that consists of such characters. */
  line: RegExp;
}

const escaped = (text: string) => text.replace(/[.+$-]/g, '\\$&');

/** Fewer characters after a beginning may be a token only if its line was broken there. */
const LEAST_BROKEN = 6;

const toRow = (begin: string, shape: Omit<TokenShape, 'begins'>): TokenRow => ({
  ...shape,
  begin,
  whole: new RegExp(
    `${escaped(begin)}(?:[${shape.of}]{${shape.least},}|[${shape.of}]{${LEAST_BROKEN},}(?=\\r?\\n))`,
    'y',
  ),
  line: new RegExp(`^[${shape.of}]*$`),
});

const PLAIN: readonly TokenRow[] = SHAPES.flatMap(({ begins, ...shape }) => begins.map((begin) => toRow(begin, shape)));

/** What base64 makes of a beginning, without the last character, which depends on what follows. */
const inBase64 = (text: string): string =>
  Buffer.from(text)
    .toString('base64')
    .slice(0, Math.floor((text.length * 8) / 6));

const BASE64 = 'A-Za-z0-9+/=';
const KEY_LABELS = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED '];

/** How many characters of base64 follow the encoded beginning at least. */
const leastInBase64 = ({ begin, least }: TokenRow): number =>
  Math.ceil(((begin.length + least) * 8) / 6) - inBase64(begin).length;

const ROWS: readonly TokenRow[] = [
  ...PLAIN,
  ...PLAIN.filter(({ begin }) => begin.length > 3).map((row) =>
    toRow(inBase64(row.begin), { of: BASE64, least: leastInBase64(row), ...(row.kind && { kind: row.kind }) }),
  ),
  ...KEY_LABELS.map((label) =>
    toRow(inBase64(`-----BEGIN ${label}PRIVATE KEY`), { of: BASE64, least: 40, kind: 'private_key' }),
  ),
];

/** Not in the middle of a word. */
const START = '(?<![A-Za-z0-9_])';
const IN_WORD = /\w/;

/** Matches a text that ends with a part of a token too short to be one; more of it may follow. */
const PARTIAL = new RegExp(`${START}(?:${ROWS.map(toPartial).join('|')})$`);

function toPartial({ begin, of, least }: TokenRow): string {
  const body = `[${of}]{0,${least - 1}}`;
  return [...begin]
    .reverse()
    .reduce((after, char, index) => `${escaped(char)}${index === 0 ? after : `(?:${after})?`}`, body);
}

/** The longest text that is no token yet. */
const MOST_PARTIAL = 128;

/** Finds tokens by their beginnings. */
export const TOKENS: readonly SecretRule[] = ROWS.map((row) => ({
  starts: [row.begin],
  canBegin: (text, at) => text.startsWith(row.begin, at) && !(at > 0 && IN_WORD.test(text[at - 1] ?? '')),
  pattern: row.whole,
  family: 'tokens',
  read(text, { index: start, 0: token }, isEnd) {
    const end = endOfToken(text, { row, start, end: start + token.length, isEnd });
    if (end === undefined) return undefined;
    const isOpen = !isEnd && end === text.length;
    return { start, end, isOpen, kind: row.kind ?? 'api_key', flag: 'credential_leak' };
  },
}));

interface Candidate {
  row: TokenRow;
  start: number;
  end: number;
  isEnd: boolean;
}

/** Where a token ends, also if its line was broken; undefined if it is none. */
function endOfToken(text: string, { row, start, end, isEnd }: Candidate): number | undefined {
  const isWhole = isWholeToken(row, text.slice(start, end));
  const canGoOn = !isWhole || isLongLine(text, { start, end });
  const longer = canGoOn ? brokenEnd(text, { start, end }, row.line) : { end, isOpen: end === text.length };
  if (longer.isOpen && !isEnd) return text.length;
  if (longer.end > end && isWholeToken(row, text.slice(start, longer.end).replace(/\r?\n/g, ''))) return longer.end;
  return isWhole ? end : undefined;
}

const isWholeToken = (row: TokenRow, token: string): boolean =>
  token.length >= row.begin.length + row.least && isToken(row, token);

/** Where the text ends with the beginning of a token; its length if it does not. */
export function tokenBeginningAt(text: string, from: number): number {
  const first = Math.max(from, text.length - MOST_PARTIAL);
  // With the character before it, because a token does not begin within a word.
  const lookFrom = Math.max(0, first - 1);
  const match = PARTIAL.exec(text.slice(lookFrom));
  return match ? Math.max(first, lookFrom + match.index) : text.length;
}

/** A JSON web token has three parts; an encrypted or unsigned one has others, and names of files have dots, too. */
function isToken({ begin, hasDigit }: TokenRow, token: string): boolean {
  const body = token.slice(begin.length);
  if (begin === 'eyJ') return /^eyJ[\w=-]{8,}\.[\w=-]{8,}\.[\w=-]{8,}/.test(token);
  if (hasDigit && !/\d/.test(body)) return false;
  return !/^(.)\1+$|^x{6}/i.test(body) && !/example|placeholder|your[-_]/i.test(body);
}
