import { isRecord } from '../../../../protocol/is-record.ts';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';

/** What the provider says about a person; everything in it is text from outside, of limited length. */
export interface ClaimedPerson {
  /** Identifies the person at this provider for ever, unlike all other claims. */
  subject: string;
  /** A name for a new user, if it is free. */
  username: string;
  displayName: string;
  /** When the person proved who they are; undefined if the provider does not say. */
  authenticatedMs: number | undefined;
}

const MAX_SUBJECT = 255; // OpenID Connect Core, section 2
const MAX_NAME = 256;
/** Leaves room for a number, because the name may be taken. */
const MAX_USERNAME = 56;
const MAX_GROUPS = 1_000;
const MAX_GROUP = 256;

type Claims = Readonly<Record<string, unknown>>;

/** Undefined without a usable subject. Names and addresses only suggest a username: they never identify anybody. */
export function toPerson(claims: Claims): ClaimedPerson | undefined {
  const { sub, auth_time } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT) return undefined;
  const names = ['preferred_username', 'nickname', 'email', 'name'].map((name) => toUsername(claims[name]));
  const username = names.find((name) => name !== '') ?? 'user';
  const isTime = typeof auth_time === 'number' && Number.isFinite(auth_time) && auth_time >= 0;
  return {
    subject: sub,
    username,
    displayName: toDisplayName(claims.name) || username,
    authenticatedMs: isTime ? Math.floor(auth_time * 1_000) : undefined,
  };
}

/** The groups of a person. Anything that is not a text, or a list of texts, is no group. */
export function toGroups(claims: Claims, claim: string): Set<string> {
  const found = claimAt(claims, claim);
  const listed: unknown[] = Array.isArray(found) ? found.slice(0, MAX_GROUPS) : [found];
  return new Set(listed.filter((group): group is string => typeof group === 'string' && group.length <= MAX_GROUP));
}

/** The claim of that name, such as a URL with dots, or the one that the path leads to. */
function claimAt(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim
    .split('.')
    .reduce<unknown>((inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined), claims);
}

/** Of an address, the part before the @. */
function toUsername(claim: unknown): string {
  if (typeof claim !== 'string') return '';
  const [local = ''] = claim.slice(0, MAX_NAME).split('@');
  const plain = local
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+/, '');
  return trimEndOf(plain, '-.').slice(0, MAX_USERNAME);
}

function toDisplayName(claim: unknown): string {
  if (typeof claim !== 'string') return '';
  return [
    ...claim
      .slice(0, 4 * MAX_NAME)
      .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim(),
  ]
    .join('')
    .slice(0, MAX_NAME)
    .trim();
}
