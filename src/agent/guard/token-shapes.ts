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
  { begins: ['svc_', 'hgn_'], of: '0-9a-f', least: 40, kind: 'secret' },
  { begins: ['hf_'], of: LETTERS, least: 30 },
  { begins: ['gsk_', 'xai-', 'pplx-', 'fw_', 'r8_'], of: LETTERS, least: 30 },
  { begins: ['dop_v1_', 'doo_v1_', 'dor_v1_'], of: '0-9a-f', least: 40 },
  { begins: ['SG.'], of: 'A-Za-z0-9_.-', least: 40 },
  { begins: ['hvs.', 'hvb.'], of: WORDS, least: 20 },
  {
    begins: ['glsa_', 'shpat_', 'shpss_', 'dckr_pat_', 'lin_api_', 'figd_', 'PMAK-', 'tskey-auth-', 'tskey-api-'],
    of: WORDS,
    least: 20,
  },
  { begins: ['sntrys_', 'rubygems_', 'dapi'], of: LETTERS, least: 32, hasDigit: true },
  { begins: ['AGE-SECRET-KEY-1'], of: 'A-Z0-9', least: 40, kind: 'private_key' },
  { begins: ['eyJ'], of: 'A-Za-z0-9_=.-', least: 30, kind: 'secret' },
];

interface TokenRow extends TokenShape {
  begin: string;
}

const ROWS: readonly TokenRow[] = SHAPES.flatMap((shape) => shape.begins.map((begin) => ({ ...shape, begin })));

const escaped = (text: string) => text.replace(/[.+-]/g, '\\$&');

/** Not in the middle of a word. */
const START = '(?<![A-Za-z0-9_])';

/** Finds whole tokens, each as long as it can be. Its groups tell the rows apart. */
const WHOLE = new RegExp(
  `${START}(?:${ROWS.map(({ begin, of, least }) => `(${escaped(begin)}[${of}]{${least},})`).join('|')})`,
  'g',
);

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

export interface FoundToken {
  start: number;
  end: number;
  kind: SecretKind;
}

/** The tokens in a text. */
export function* findTokens(text: string, from: number): Generator<FoundToken> {
  WHOLE.lastIndex = from;
  for (let match = WHOLE.exec(text); match; match = WHOLE.exec(text)) {
    const [token, ...groups] = match;
    const row = ROWS[groups.findIndex((group) => group !== undefined)];
    if (row === undefined || !isToken(row, token)) continue;
    yield { start: match.index, end: match.index + token.length, kind: row.kind ?? 'api_key' };
  }
}

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
