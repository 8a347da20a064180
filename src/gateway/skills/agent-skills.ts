import { GatewayError } from '../../../protocol/errors.ts';
import type { WorkstreamKind } from '../../../protocol/methods/conversation/kinds.ts';
import type { Skill, SkillKind } from '../../../protocol/methods/skills/skill.ts';
import { MAX_RESOURCE_BYTES } from '../../../protocol/methods/skills/skill-resource.ts';
import { fillTemplate } from '../../agent/prefix/fill-template.ts';
import { digestOf } from '../../agent/project/instructions.ts';
import type { FolderSkill, FolderSkills, FoundSkills } from '../../agent/skills/folder-skills.ts';
import { MAX_SKILL_CHARS } from '../../agent/skills/parse-skill.ts';
import type { AgentSkill, ListedSkill, SkillPlace, SkillSource, SkillsNow } from '../../agent/skills/skill-source.ts';
import { readTrust } from '../runs/trust-rows.ts';
import type { Store } from '../store/store.ts';
import { type ChosenSkill, readChosen } from './chosen-skill.ts';
import type { Skills } from './skills.ts';

export interface AgentSkillsDeps {
  store: Pick<Store, 'db'>;
  skills: Skills;
  folders: FolderSkills;
  /** What `{{node_id}}` stands for. */
  nodeId: string;
}

/** Files of a stored skill are shown with it if they are not larger than this together. */
const SHOWN_BYTES = 8 * 1024;

/** A skill that a name leads to. */
export interface NamedSkill {
  stored?: Skill;
  folder?: FolderSkill;
}

/** The skills as agents and the people of a workstream use them: stored ones, and those in trusted folders. */
export interface UsableSkills extends SkillSource {
  /** With those of folders that nobody trusts. */
  look(place: SkillPlace): Promise<Usable>;
  /**
   * An enabled stored one, or one in a trusted folder. A stored one wins, so that no folder can take its place. Throws
   * INVALID_REQUEST for one that is for workstreams of another kind.
   */
  find(name: string, place: SkillPlace): Promise<NamedSkill>;
  /** Where no folder is known yet: an enabled stored one, or one of the home. Throws like `find`. */
  findAnywhere(name: string, kind: WorkstreamKind): Promise<NamedSkill>;
  /** What is stored when somebody chooses it. */
  choose(found: NamedSkill): Promise<ChosenSkill | undefined>;
}

export interface Usable {
  offered: readonly (ListedSkill | FolderSkill)[];
  defaults: readonly Skill[];
  chosen: ChosenSkill | undefined;
  found: FoundSkills;
}

export function createAgentSkills(deps: AgentSkillsDeps): UsableSkills {
  const { store, skills, folders } = deps;
  const look = async (place: SkillPlace): Promise<Usable> => {
    const [found, unnamed, chosen, kind] = await Promise.all([
      findTrusted(place, deps),
      skills.unnamed(),
      readChosen(store, place.wsId),
      readKind(store, place.wsId),
    ]);
    const stored = unnamed.filter((skill) => isFor(skill, kind));
    return {
      offered: toOffered(stored, found),
      defaults: chosen ? [] : stored.filter(({ activation }) => activation === 'default'),
      chosen,
      found,
    };
  };
  const load = async (place: SkillPlace, name: string): Promise<AgentSkill | undefined> => {
    const { offered, defaults, chosen, found } = await look(place);
    if (chosen?.skill.name === name) return filled(chosen.skill, place, deps);
    const isKnown = [...offered, ...defaults].some((skill) => skill.name === name);
    if (!isKnown) return undefined;
    const stored = (await skills.unnamed()).find((skill) => skill.name === name);
    if (stored) return filled(await ofStored(stored, skills), place, deps);
    const inFolder = found.skills.find((skill) => skill.name === name);
    return inFolder && ofFolder(inFolder, folders);
  };
  return {
    look,
    load,
    offered: async (place) => (await look(place)).offered,
    async now(place): Promise<SkillsNow> {
      const { offered, defaults, chosen } = await look(place);
      const raw = chosen ? [chosen.skill] : await Promise.all(defaults.map((skill) => ofStored(skill, skills)));
      return { offered, applied: await Promise.all(raw.map((skill) => filled(skill, place, deps))) };
    },
    async find(name, place) {
      const stored = await skills.find(name);
      if (stored?.enabled) {
        requireFor(stored, await readKind(store, place.wsId));
        return { stored };
      }
      const folder = (await findTrusted(place, deps)).skills.find((skill) => skill.name === name);
      return folder ? { folder } : {};
    },
    async findAnywhere(name, kind) {
      const stored = await skills.find(name);
      if (stored?.enabled) {
        requireFor(stored, kind);
        return { stored };
      }
      const folder = (await folders.ofHome()).find((skill) => skill.name === name);
      return folder ? { folder } : {};
    },
    async choose({ stored, folder }) {
      if (stored) {
        return { skill: await ofStored(stored, skills), skillId: stored.skillId, revision: stored.revision };
      }
      return folder && { skill: await ofFolder(folder, folders), skillId: undefined, revision: undefined };
    },
    async read(place, skill, file) {
      const { found } = await look(place);
      if (isOfFolder(skill)) {
        const folder = found.skills.find(({ name }) => name === skill.name);
        return folder && (await folders.read(folder, file, MAX_RESOURCE_BYTES));
      }
      const stored = await skills.find(skill.name);
      const resource = stored && (await skills.resources(stored.skillId)).find(({ path }) => path === file);
      return resource && Buffer.from(resource.content);
    },
  };
}

const isFor = ({ kind }: { kind: SkillKind }, workstreams: WorkstreamKind): boolean =>
  kind === 'any' || kind === workstreams;

const FOR = { interactive: 'for workstreams that are no coordinators', coordinator: 'for coordinators' };

function requireFor(skill: Pick<Skill, 'name' | 'kind'>, workstreams: WorkstreamKind): void {
  if (skill.kind !== 'any' && !isFor(skill, workstreams))
    throw new GatewayError('INVALID_REQUEST', `The skill ${skill.name} is ${FOR[skill.kind]}`);
}

async function readKind({ db }: Pick<Store, 'db'>, wsId: string): Promise<WorkstreamKind> {
  const row = await db.selectFrom('workstreams').select('kind').where('ws_id', '=', wsId).executeTakeFirst();
  return row?.kind ?? 'interactive';
}

/** Stored ones first, then the home, then the project: what somebody here wrote cannot be replaced by a file. */
function toOffered(stored: readonly Skill[], { skills }: FoundSkills): Usable['offered'] {
  const byName = new Map<string, ListedSkill | FolderSkill>();
  for (const { name, description, origin, activation } of stored)
    if (activation === 'search') byName.set(name, { name, description, origin });
  const taken = new Set(stored.map(({ name }) => name));
  for (const skill of skills) if (!skill.isForPeople && !taken.has(skill.name)) byName.set(skill.name, skill);
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Decisions of people in the conversation are read only where they could matter. */
async function findTrusted({ wsId, workdir }: SkillPlace, { folders, store }: AgentSkillsDeps): Promise<FoundSkills> {
  const found = await folders.find(workdir, []);
  if (found.waiting.length === 0) return found;
  const { trusted } = await readTrust(store, wsId);
  return trusted.length === 0 ? found : folders.find(workdir, trusted);
}

async function ofStored(skill: Skill, skills: Pick<Skills, 'resources'>): Promise<AgentSkill> {
  const resources = skill.resourceCount === 0 ? [] : await skills.resources(skill.skillId);
  const size = resources.reduce((sum, resource) => sum + resource.size, 0);
  const { name, description, origin, scan } = skill;
  const text = skill.content.slice(0, MAX_SKILL_CHARS);
  return {
    name,
    description,
    origin,
    text,
    digest: digestOf(JSON.stringify([text, resources.map(({ path, content }) => [path, digestOf(content)])])),
    files: resources.map(({ path }) => path),
    shownFiles: size > SHOWN_BYTES ? [] : resources.map(({ path, content }) => ({ path, content })),
    isUntrusted: origin === 'source',
    tier: scan.tier,
  };
}

const isOfFolder = ({ origin }: Pick<AgentSkill, 'origin'>): boolean => origin === 'home' || origin === 'project';

/** With the variables of this conversation in the text of a stored one. */
async function filled(
  skill: AgentSkill,
  { wsId }: SkillPlace,
  { store, nodeId }: AgentSkillsDeps,
): Promise<AgentSkill> {
  if (isOfFolder(skill) || !skill.text.includes('{{')) return skill;
  const { model_alias: alias } =
    (await store.db.selectFrom('workstreams').select('model_alias').where('ws_id', '=', wsId).executeTakeFirst()) ?? {};
  const variables = new Map([
    ['ws_id', wsId],
    ['node_id', nodeId],
  ]);
  if (alias) variables.set('model', alias);
  return { ...skill, text: fillTemplate(skill.text, variables) };
}

const ofFolder = async (skill: FolderSkill, folders: FolderSkills): Promise<AgentSkill> => ({
  name: skill.name,
  description: skill.description,
  origin: skill.origin,
  text: skill.text,
  digest: skill.digest,
  ...(skill.origin === 'project' && { folder: skill.folder }),
  files: await folders.list(skill),
  shownFiles: [],
  isUntrusted: false,
});
