import { GatewayError } from '../../../../protocol/errors.ts';
import type { Params } from '../../../../protocol/index.ts';

/** A place in a repository of GitHub. */
export interface SourceAddress {
  owner: string;
  repo: string;
  /** A branch, tag or commit; undefined: `main`, otherwise `master`. */
  ref: string | undefined;
  /** A folder in it, without slashes around; empty: its root. */
  folder: string;
  /** The name of the skill that is meant; undefined: all below the folder. */
  name: string | undefined;
}

type Asked = Params<'skill.install'>;

/** Where the skills are that are to be installed. Throws with the words that clients of the specification expect. */
export function sourceAddress({ source, sourceSkillId, url }: Asked): SourceAddress {
  if (source === 'skills.sh') {
    if (sourceSkillId === undefined || sourceSkillId.trim() === '') throw invalid('skill_id is required');
    return ofDirectory(sourceSkillId.trim());
  }
  if (source === 'github') {
    if (url === undefined || url.trim() === '') throw invalid('url is required');
    return ofGitHub(url.trim());
  }
  throw invalid("source must be 'skills.sh' or 'github'");
}

/** `owner/repo/name`, as the directory names skills. */
function ofDirectory(id: string): SourceAddress {
  const [owner = '', repo = '', ...rest] = id.split('/');
  const name = rest.at(-1);
  if (name === undefined || rest.length > 1) throw invalid('skill_id must be owner/repository/name');
  return checked({ owner, repo, ref: undefined, folder: '', name });
}

/** The address of a repository, of a folder in it, or of a SKILL.md, as the browser shows it. */
function ofGitHub(text: string): SourceAddress {
  const url = URL.parse(text);
  if (!url || !isPlainHttps(url)) throw NOT_GITHUB();
  const [owner = '', repo = '', ...rest] = url.pathname.split('/').filter(Boolean).map(decoded);
  if (url.hostname === 'raw.githubusercontent.com') {
    const [ref, ...path] = rest[0] === 'refs' && rest[1] === 'heads' ? rest.slice(2) : rest;
    return checked({ owner, repo, ref, folder: withoutFile(path), name: undefined });
  }
  if (url.hostname !== 'github.com' && url.hostname !== 'www.github.com') throw NOT_GITHUB();
  const [kind, ref, ...path] = rest;
  const isFolder = (kind === 'tree' || kind === 'blob') && ref !== undefined;
  if (kind !== undefined && !isFolder) throw NOT_GITHUB();
  return checked({ owner, repo: repo.replace(/\.git$/, ''), ref, folder: withoutFile(path), name: undefined });
}

const isPlainHttps = ({ protocol, username, password, port }: URL): boolean =>
  protocol === 'https:' && username === '' && password === '' && port === '';

const withoutFile = (path: readonly string[]): string =>
  (/^skill\.md$/i.test(path.at(-1) ?? '') ? path.slice(0, -1) : path).join('/');

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw NOT_GITHUB();
  }
}

/** What may stand in an address that is built from it. */
function checked(address: SourceAddress): SourceAddress {
  const { owner, repo, ref, folder, name } = address;
  const isPlain =
    /^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/.test(owner) &&
    isPart(repo) &&
    (ref === undefined || isPart(ref)) &&
    (name === undefined || isPart(name)) &&
    (folder === '' || folder.split('/').every(isPart));
  if (!isPlain) throw NOT_GITHUB();
  return address;
}

const isPart = (part: string): boolean => /^[\w.@ +-]{1,200}$/.test(part) && part !== '.' && part !== '..';

const invalid = (message: string) => new GatewayError('INVALID_REQUEST', message);

const NOT_GITHUB = () =>
  invalid('url must be https://github.com/owner/repository, or of a folder or SKILL.md in it: …/tree/branch/path');
