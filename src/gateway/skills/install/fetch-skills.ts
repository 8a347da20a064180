import { createHash } from 'node:crypto';
import path from 'node:path';
import type { LeftOut } from '../../../../protocol/methods/skills/skill.ts';
import { MAX_RESOURCE_BYTES } from '../../../../protocol/methods/skills/skill-resource.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { MAX_SKILL_BYTES, MAX_SKILL_CHARS, parseSkill } from '../../../agent/skills/parse-skill.ts';
import { checkResourcePath } from '../skill-input.ts';
import { MOST_RESOURCES } from '../skill-resources.ts';
import { NEW_SKILL } from '../skill-rows.ts';
import type { NewResource, NewSkill } from '../skills.ts';
import type { Repository, RepositoryFile } from './repository.ts';
import type { SourceAddress } from './source-address.ts';

/** Of one repository. */
const MOST_FOUND = 50;
/** At the same time. */
const MOST_FETCHED = 5;

/** A skill that was fetched, or why it cannot be used. */
export type FetchedSkill = { name: string } & ({ skill: NewSkill } | { problem: string });

/** The SKILL.md files that an address means. */
export function findSkillFiles(
  { files }: Pick<Repository, 'files'>,
  { folder, name }: SourceAddress,
): RepositoryFile[] {
  const all = files.filter((file) => /^skill\.md$/i.test(path.posix.basename(file.path)));
  const at = (place: string) => all.filter((file) => folderOf(file) === place);
  if (name !== undefined) {
    const candidates = [name, `skills/${name}`, ''].flatMap(at);
    const elsewhere = all.filter((file) => path.posix.basename(folderOf(file)) === name);
    return [...candidates, ...elsewhere].slice(0, 1);
  }
  const own = at(folder);
  if (own.length > 0) return own.slice(0, 1);
  return all.filter((file) => folder === '' || file.path.startsWith(`${folder}/`)).slice(0, MOST_FOUND);
}

const folderOf = ({ path: file }: RepositoryFile): string => {
  const folder = path.posix.dirname(file);
  return folder === '.' ? '' : folder;
};

/** Fetches skills with their files, five at a time. Throws UPSTREAM_FAILED. */
export async function fetchSkills(
  repository: Repository,
  skillFiles: readonly RepositoryFile[],
  address: SourceAddress,
): Promise<FetchedSkill[]> {
  const fetched: FetchedSkill[] = [];
  for (let at = 0; at < skillFiles.length; at += MOST_FETCHED) {
    const some = skillFiles.slice(at, at + MOST_FETCHED);
    const skills = await Promise.all(some.map((file) => fetchSkill(repository, file, address)));
    fetched.push(...skills.map(toVisible));
  }
  return fetched;
}

/** Folders of repositories may be named with anything, and a problem repeats the name. */
const toVisible = (fetched: FetchedSkill): FetchedSkill =>
  'problem' in fetched ? { name: toVisibleLine(fetched.name), problem: toVisibleLine(fetched.problem) } : fetched;

async function fetchSkill(repository: Repository, file: RepositoryFile, address: SourceAddress): Promise<FetchedSkill> {
  const folder = folderOf(file);
  // In the root, the folder is the repository.
  const folderName = folder === '' ? undefined : path.posix.basename(folder);
  const shownName = folderName ?? address.name ?? address.repo;
  if (file.size > MAX_SKILL_BYTES) return { name: shownName, problem: `SKILL.md exceeds ${MAX_SKILL_BYTES / 1024}KB` };
  const bytes = await repository.read(file);
  const text = bytes.toString('utf8');
  const parsed = await parseSkill(text, folderName ?? nameIn(text) ?? address.repo);
  if (typeof parsed === 'string') return { name: shownName, problem: parsed };
  if (parsed.text.length > MAX_SKILL_CHARS)
    return { name: parsed.name, problem: `its text exceeds ${MAX_SKILL_CHARS} characters` };
  const found = findResources(repository, folder);
  if (typeof found === 'string') return { name: parsed.name, problem: found };
  const resources: NewResource[] = [];
  const left = filesElsewhere(repository, folder);
  const parts = [['SKILL.md', sha256(bytes)]];
  for (const { resource, path: place } of found) {
    const content = await repository.read(resource);
    parts.push([place, sha256(content)]);
    // Images and archives are of no use to a model.
    if (!isText(content)) left.push({ path: place, reason: 'binary' });
    else resources.push({ path: place, content: content.toString('utf8'), contentType: 'text/plain' });
  }
  const { name, description, text: body, license, compatibility, author, version, allowedTools } = parsed;
  const { owner, repo } = address;
  return {
    name,
    skill: {
      resources,
      fields: {
        ...NEW_SKILL,
        name,
        description,
        content: body,
        license,
        compatibility,
        version: version.slice(0, 64),
        origin: 'source',
        author: author === '' ? owner : author,
        ...leftOutOf(left),
        wantedTools: allowedTools,
        sourceUrl: `https://github.com/${[owner, repo, 'tree', repository.ref, folder].filter(Boolean).join('/')}`,
        digest: sha256(Buffer.from(JSON.stringify(parts))),
      },
    },
  };
}

/** What a SKILL.md in the root of a repository calls itself; the folder of its clone has any name. */
const nameIn = (text: string): string | undefined => /^name:\s*["']?([^\s"']{1,64})["']?\s*$/m.exec(text)?.[1];

/** The files that the specification of skills knows. A text says why there are too many. */
function findResources({ files }: Pick<Repository, 'files'>, folder: string) {
  const beginning = folder === '' ? '' : `${folder}/`;
  const found = files
    .filter((file) => file.path.startsWith(beginning))
    .map((resource) => ({ resource, path: resource.path.slice(beginning.length) }))
    .filter(({ path: place }) => isResource(place))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const size = found.reduce((sum, { resource }) => sum + resource.size, 0);
  if (found.length > MOST_RESOURCES) return `it has more than ${MOST_RESOURCES} resources`;
  if (size > MAX_RESOURCE_BYTES) return `its resources exceed ${MAX_RESOURCE_BYTES / 1024}KB`;
  return found;
}

type LeftFile = LeftOut['files'][number];

/** Files of the folder that skills do not bring along. Those of other skills below it are not its own. */
function filesElsewhere({ files }: Pick<Repository, 'files'>, folder: string): LeftFile[] {
  const beginning = folder === '' ? '' : `${folder}/`;
  const inside = files.flatMap((file) => (file.path.startsWith(beginning) ? [file.path.slice(beginning.length)] : []));
  const others = new Set(
    inside.filter((place) => /.\/skill\.md$/i.test(place)).map((place) => place.slice(0, -'/skill.md'.length)),
  );
  return inside
    .filter((place) => !/^skill\.md$/i.test(place) && !isResource(place))
    .filter((place) => !foldersAbove(place).some((above) => others.has(above)))
    .map((place) => ({ path: place, reason: 'place' }));
}

/** Not by going through all other skills: a repository of strangers can have as many as it has files. */
function foldersAbove(place: string): string[] {
  const parts = place.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** So many are named. */
const MOST_NAMED = 50;

function leftOutOf(files: readonly LeftFile[]): { leftOut?: LeftOut } {
  if (files.length === 0) return {};
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const named = sorted.slice(0, MOST_NAMED).map((file) => ({ ...file, path: toVisibleLine(file.path) }));
  return { leftOut: { count: files.length, files: named } };
}

function isResource(place: string): boolean {
  try {
    return checkResourcePath(place) === place;
  } catch {
    return false; // another file of the repository
  }
}

const isText = (bytes: Buffer): boolean => !bytes.includes(0) && bytes.toString('utf8').indexOf('\ufffd') < 0;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
