import path from 'node:path';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { digestOf, type InstructionFile, type InstructionFolders, trustOf } from '../project/instructions.ts';
import { findProjectFolders } from '../project/project-folders.ts';
import { SKILL_FOLDERS } from '../project/project-places.ts';
import { createLooks, type FileLooks, promptLooks } from '../tools/files/file-looks.ts';
import { MAX_SKILL_BYTES, type ParsedSkill, parseSkill } from './parse-skill.ts';

const FILE = 'SKILL.md';
/** A folder may belong to anyone; more names than this are not read. */
const MOST_NAMES = 1_000;
/** Skills per folder for skills. */
const MOST_SKILLS = 100;
const MOST_ODD = 10;
/** Parsed texts that are remembered. */
const MOST_PARSED = 500;

/** A skill in a folder that is trusted. */
export interface FolderSkill extends ParsedSkill {
  /** Its own folder. */
  folder: string;
  /** `home`: below Headgate's home; `project`: in a folder of the project. */
  origin: 'home' | 'project';
  /** SHA-256 of the file. */
  digest: string;
}

/** A skill of a folder that nobody trusts. */
export interface WaitingSkill extends InstructionFile {
  name: string;
  /** The folder that has to be trusted. */
  folder: string;
}

/** A folder beside skills that is none. */
export interface OddSkill {
  file: string;
  why: string;
}

export interface FoundSkills {
  /** The first of each name: of the home, then from the working directory to the root of the repository. */
  skills: FolderSkill[];
  waiting: WaitingSkill[];
  /** At most ten. */
  odd: OddSkill[];
}

/** Finds the skills in folders. Never rejects. */
export interface FolderSkills {
  /** `agreed`: folders that people trust in the conversation, too. */
  find(workdir: string, agreed: readonly string[]): Promise<FoundSkills>;
  /** Those of the home. */
  ofHome(): Promise<FolderSkill[]>;
  /** A file of a skill, by its path below the folder of the skill. Undefined: there is none that may be read. */
  read(skill: Place, file: string, maxBytes: number): Promise<Buffer | undefined>;
  /** The paths of the files that a skill brings, below its folder. */
  list(skill: Place): Promise<string[]>;
}

type Place = Pick<FolderSkill, 'folder' | 'origin'>;

export function createFolderSkills(folders: InstructionFolders): FolderSkills {
  const places = createLooks();
  const known: Known = new Map();
  // The home is on a disk that the daemon waits for in any case.
  const looksFor = ({ folder, origin }: Place) => (origin === 'home' ? promptLooks : places.at(folder));
  const readHome = async () =>
    readPlace(path.join(await promptLooks.realOf(folders.home), 'skills'), promptLooks, known);
  return {
    ofHome: async () => toSkills((await readHome()).files.map((file) => ({ ...file, origin: 'home' }))),
    async find(workdir, agreed) {
      const looks = await places.at(workdir);
      const [ofHome, project] = await Promise.all([readHome(), findProjectFolders(workdir, looks)]);
      const used = (await Promise.all(project.folders.map((root) => readProject(root, looks, known)))).flat();
      const isTrusted = used.some(({ files }) => files.length > 0) ? await trustOf(folders, agreed) : () => false;
      const trusted = used.filter(({ root }) => isTrusted(root));
      const all = [
        ...ofHome.files.map((file) => ({ ...file, origin: 'home' as const })),
        ...trusted.flatMap(({ files }) => files.map((file) => ({ ...file, origin: 'project' as const }))),
      ];
      return {
        skills: toSkills(all),
        waiting: used.filter(({ root }) => !isTrusted(root)).flatMap(({ root, files }) => toWaiting(root, files)),
        odd: [...ofHome.odd, ...trusted.flatMap(({ odd }) => odd), ...toOdd(all)].slice(0, MOST_ODD),
      };
    },
    async read(skill, file, maxBytes) {
      const place = path.join(skill.folder, file);
      if (!isBelow(skill.folder, place)) return undefined;
      const start = await (await looksFor(skill)).readStart(place, maxBytes + 1);
      return start && start.size <= maxBytes ? start.bytes : undefined;
    },
    list: async (skill) => listFiles(skill.folder, await looksFor(skill)),
  };
}

/** Parsed texts by their digests: every run looks at all skills. */
type Known = Map<string, Promise<ParsedSkill | string>>;

interface ReadSkill {
  folder: string;
  text: string;
  digest: string;
  parsed: ParsedSkill | string;
}

interface ReadPlace {
  files: ReadSkill[];
  odd: OddSkill[];
}

const readProject = async (root: string, looks: FileLooks, known: Known) => {
  const read = await Promise.all(SKILL_FOLDERS.map((place) => readPlace(path.join(root, place), looks, known)));
  return { root, files: read.flatMap(({ files }) => files), odd: read.flatMap(({ odd }) => odd) };
};

async function readPlace(place: string, looks: FileLooks, known: Known): Promise<ReadPlace> {
  const names = await looks.namesIn(place, MOST_NAMES); // mostly none
  const files: ReadSkill[] = [];
  const odd: OddSkill[] = [];
  for (const name of names.sort(inOrder).slice(0, MOST_SKILLS)) {
    const folder = path.join(place, name);
    const file = path.join(folder, FILE);
    if (!(await looks.isFolder(folder))) {
      // A plain file beside them may be anything; a link looks like a skill and is none.
      if (!path.extname(name)) odd.push({ file: folder, why: 'it is no folder, or a link' });
      continue;
    }
    const start = await looks.readStart(file, MAX_SKILL_BYTES + 1);
    if (!start) odd.push({ file, why: 'it is missing, a link, or unreadable' });
    else if (start.size > MAX_SKILL_BYTES) odd.push({ file, why: `it is larger than ${MAX_SKILL_BYTES / 1024} KiB` });
    else files.push(await readSkill(folder, start.bytes.toString('utf8'), known));
  }
  if (names.length > MOST_SKILLS) odd.push({ file: place, why: `only its first ${MOST_SKILLS} skills are read` });
  return { files, odd };
}

async function readSkill(folder: string, text: string, known: Known): Promise<ReadSkill> {
  const digest = digestOf(text);
  const name = path.basename(folder);
  const key = `${name}/${digest}`;
  const parsing = known.get(key) ?? parseSkill(text, name);
  if (known.size >= MOST_PARSED) known.clear();
  known.set(key, parsing);
  return { folder, text, digest, parsed: await parsing };
}

/** The order of code units, which every machine has. */
const inOrder = (a: string, b: string): number => (a < b ? -1 : 1);

function toSkills(all: readonly (ReadSkill & Pick<FolderSkill, 'origin'>)[]): FolderSkill[] {
  const byName = new Map<string, FolderSkill>();
  for (const { parsed, folder, digest, origin } of all) {
    if (typeof parsed === 'string' || byName.has(parsed.name)) continue;
    byName.set(parsed.name, { ...parsed, folder, digest, origin });
  }
  return [...byName.values()];
}

/** A person reads them before deciding. The decision is about the folder, with all that is in it. */
const MOST_WAITING = 20;
const WAITING_CHARS = 8_000;

const toWaiting = (root: string, files: readonly ReadSkill[]): WaitingSkill[] =>
  files
    .flatMap(({ folder, text, digest, parsed }) =>
      typeof parsed === 'string'
        ? []
        : [{ name: parsed.name, path: path.join(folder, FILE), text: shortened(text), digest, folder: root }],
    )
    .slice(0, MOST_WAITING);

const shortened = (text: string): string =>
  text.length <= WAITING_CHARS
    ? text
    : `${text.slice(0, WAITING_CHARS)}\n[${text.length - WAITING_CHARS} more characters of this skill]`;

const toOdd = (all: readonly ReadSkill[]): OddSkill[] =>
  all.flatMap(({ parsed, folder }) =>
    typeof parsed === 'string' ? [{ file: path.join(folder, FILE), why: toVisibleLine(parsed).slice(0, 500) }] : [],
  );

/** Folders for what a skill brings. */
const BROUGHT = ['references', 'scripts', 'assets'];
const MOST_FILES = 100;
const MOST_LEVELS = 3;

/** Links are left out, because they may lead anywhere. */
async function listFiles(folder: string, looks: FileLooks): Promise<string[]> {
  const found: string[] = [];
  const waiting = BROUGHT.map((place) => ({ place, levels: MOST_LEVELS }));
  for (let next = waiting.pop(); next && found.length < MOST_FILES; next = waiting.pop()) {
    const { place, levels } = next;
    const { files, folders } = await lookInto(folder, place, looks);
    found.push(...files);
    if (levels > 1) waiting.push(...folders.map((inner) => ({ place: inner, levels: levels - 1 })));
  }
  return found.slice(0, MOST_FILES).sort(inOrder);
}

async function lookInto(folder: string, place: string, looks: FileLooks) {
  const [files, folders]: [string[], string[]] = [[], []];
  if (!(await looks.isFolder(path.join(folder, place)))) return { files, folders };
  for (const name of await looks.namesIn(path.join(folder, place), MOST_FILES)) {
    const inner = path.join(place, name);
    if (await looks.isFolder(path.join(folder, inner))) folders.push(inner);
    else if (await looks.readStart(path.join(folder, inner), 1)) files.push(inner);
  }
  return { files, folders };
}

const isBelow = (folder: string, place: string): boolean => place.startsWith(`${folder}${path.sep}`);
