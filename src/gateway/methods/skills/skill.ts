import {
  type Skill,
  type SkillSummary,
  skillAllowsCalls,
  type skillContracts,
  type UsableSkill,
} from '../../../../protocol/methods/skills/skill.ts';
import type { PromptTemplate } from '../../../../protocol/methods/templates/template.ts';
import type { WsTemplate } from '../../../../protocol/methods/templates/wstemplate.ts';
import { requireFreshProof } from '../../auth/fresh-proof.ts';
import type { Handlers } from '../../call.ts';
import { viewerOf } from '../../sharing/perception.ts';
import type { Usable, UsableSkills } from '../../skills/agent-skills.ts';
import { checkDescription, checkSkillName, possibleChange, toSkillChange } from '../../skills/skill-input.ts';
import { NEW_SKILL } from '../../skills/skill-rows.ts';
import type { Skills } from '../../skills/skills.ts';
import { checkContent } from '../../templates/template-input.ts';
import type { Templates } from '../../templates/templates.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import { editorOf } from '../templates/template.ts';

export interface SkillMethodDeps {
  skills: Skills;
  usable: Pick<UsableSkills, 'look'>;
  templates: Pick<Templates, 'prompts' | 'ofWorkstreams'>;
  workstreams: Pick<Workstreams, 'get'>;
}

export const skillMethods = ({
  skills,
  usable,
  templates,
  workstreams,
}: SkillMethodDeps): Handlers<keyof typeof skillContracts> => ({
  'skill.list': async () => {
    const [stored, texts, settings] = await Promise.all([
      skills.list(),
      templates.prompts.list(),
      templates.ofWorkstreams.list(),
    ]);
    const old = [...texts.map(ofPrompt), ...settings.filter(({ enabled }) => enabled).map(ofSettings)];
    return { skills: [...stored.filter(({ enabled }) => enabled).map(ofSkill), ...old] };
  },
  'skill.available': async ({ wsId }, call) => {
    const { data } = await workstreams.get(wsId, viewerOf(call));
    const looked = await usable.look(data);
    const { waiting, odd } = looked.found;
    const stored = (await skills.list()).filter(({ enabled }) => enabled);
    return {
      skills: toUsable(looked, stored),
      waiting: waiting.map(({ name, folder }) => ({ name, folder })),
      odd,
    };
  },
  'skill.details': async () => {
    const all = await skills.list();
    return { skills: all, total: all.length };
  },
  'skill.get': ({ skillId }) => skills.get(skillId),
  'skill.create': async ({ name = '', content = '', description = '', ...asked }, call) => {
    const fields = {
      ...NEW_SKILL,
      ...toSkillChange(asked),
      name: checkSkillName(name),
      content: checkContent(content),
      description: checkDescription(description),
    };
    const also = ([id = '']: string[]) => call.audited({ id, name: fields.name });
    const [made] = await skills.add([{ fields, resources: [] }], { by: editorOf(call), also });
    if (!made) throw new Error('a skill was stored, and is not there');
    return made;
  },
  'skill.update': async ({ skillId, ...asked }, call) => {
    const before = await skills.get(skillId);
    const change = possibleChange(before, toSkillChange(asked, before.name));
    const after = { ...before, ...change };
    // An enabled skill that allows calls allows them for whatever else it says.
    if (after.enabled && skillAllowsCalls(after)) requireFreshProof(call.principal);
    const also = call.audited({ name: before.name, changed: Object.keys(change) });
    return skills.update(before, change, { by: editorOf(call), also });
  },
  'skill.delete': async ({ skillId }, call) => {
    const { name } = await skills.get(skillId);
    await skills.remove(skillId, call.audited({ name }));
    return { status: 'ok' };
  },
  'skill.versions': async ({ skillId }) => ({ versions: await skills.versions(skillId) }),
  'skill.rescan': async ({ skillId }, call) => {
    const skill = await skills.get(skillId);
    return skills.rescan(skill, { also: call.audited({ name: skill.name }) });
  },
});

const ofSkill = (skill: Skill): SkillSummary => ({
  name: skill.name,
  category: skill.category,
  description: skill.description,
  tags: skill.tags,
  isDefault: skill.activation === 'default',
  activation: skill.activation,
  origin: skill.origin,
  author: skill.author === '' ? skill.createdBy : skill.author,
  version: skill.version,
});

const ofPrompt = ({ name, category, isDefault, origin, createdBy }: PromptTemplate): SkillSummary => ({
  name,
  category,
  description: '',
  tags: [],
  isDefault,
  activation: isDefault ? 'default' : 'named',
  origin,
  author: createdBy,
  version: '1',
});

const ofSettings = ({ name, description, createdBy, version }: WsTemplate): SkillSummary => ({
  name,
  category: 'general',
  description,
  tags: [],
  isDefault: false,
  activation: 'named',
  origin: 'manual',
  author: createdBy,
  version: String(version),
});

/** Everything that a person can choose there. A stored skill hides those of its name in folders. */
function toUsable({ offered, defaults, chosen, found }: Usable, stored: readonly Skill[]): UsableSkill[] {
  const isApplied = (name: string) =>
    chosen ? chosen.skill.name === name : defaults.some((skill) => skill.name === name);
  const isOffered = (name: string) => offered.some((skill) => skill.name === name);
  const row = ({ name, description }: Pick<UsableSkill, 'name' | 'description'>) => ({
    name,
    description,
    isApplied: isApplied(name),
    isOffered: isOffered(name),
  });
  const names = new Set(stored.map(({ name }) => name));
  const inFolders = found.skills.filter(({ name }) => !names.has(name));
  const rows: UsableSkill[] = [
    ...stored.map((skill) => ({ ...row(skill), origin: skill.origin, tier: skill.scan.tier })),
    ...inFolders.map((skill) => ({ ...row(skill), origin: skill.origin, folder: skill.folder })),
  ];
  // Deleted or changed since it was chosen, with the text of that time.
  if (chosen && !rows.some(({ name }) => name === chosen.skill.name))
    rows.push({ ...row(chosen.skill), origin: chosen.skill.origin });
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}
