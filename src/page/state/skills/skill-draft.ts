import type { ParamsInput } from '../../../../protocol/index.ts';
import type { Skill } from '../../../../protocol/methods/skills/skill.ts';
import { FieldProblem } from './refused-fields.ts';

/** The texts of the form of a skill, by the names of its fields. Those that are not in the form are missing. */
export type SkillTexts = Partial<Record<string, string>>;

/** The fields of a skill that a form shows. */
export const SKILL_FIELDS = [
  ...(['name', 'description', 'content', 'activation', 'kind', 'category', 'tags', 'author', 'license'] as const),
  ...([
    'compatibility',
    'model',
    'reasoningEffort',
    'temperature',
    'maxTokens',
    'tokenBudget',
    'agentMaxTurns',
  ] as const),
  ...(['priority', 'allowedTools', 'autoApprove'] as const),
];

type Field = (typeof SKILL_FIELDS)[number];

/** What the form of a skill shows at first; of no skill: of a new one. */
export const textsOf = (skill: Skill | undefined): Record<Field, string> => ({
  ...NEW,
  ...(skill && {
    ...plainOf(skill),
    tags: skill.tags.join(', '),
    temperature: toText(skill.temperature),
    maxTokens: toText(skill.maxTokens),
    tokenBudget: skill.tokenBudget === 0 ? '' : String(skill.tokenBudget),
    agentMaxTurns: toText(skill.agentMaxTurns),
    priority: String(skill.priority),
    allowedTools: skill.allowedTools.join('\n'),
    autoApprove: skill.autoApprove ? 'on' : '',
  }),
});

const plainOf = ({ name, description, content, activation, kind, category, ...rest }: Skill) => {
  const { author, license, compatibility, model, reasoningEffort } = rest;
  const about = { category, author, license, compatibility };
  return { name, description, content, activation, kind, model, reasoningEffort, ...about };
};

const NEW: Record<Field, string> = {
  name: '',
  description: '',
  content: '',
  activation: 'named',
  kind: 'any',
  category: '',
  tags: '',
  author: '',
  license: '',
  compatibility: '',
  model: '',
  reasoningEffort: '',
  temperature: '',
  maxTokens: '',
  tokenBudget: '',
  agentMaxTurns: '',
  allowedTools: '',
  autoApprove: '',
  priority: '0',
};

const toText = (value: number | null): string => (value === null ? '' : String(value));

type Change = Omit<ParamsInput<'skill.update'>, 'skillId'>;

/**
 * What the form says of a new skill, or changes in `before`: what is as it was is not sent, so that it keeps what a form cannot
 * show. Throws a FieldProblem.
 */
export function readSkill(texts: SkillTexts, before: Skill | undefined): Change {
  const shown = textsOf(before);
  const given = (field: Field): string | undefined => {
    const text = field === 'autoApprove' ? (texts[field] ?? '') : texts[field]?.replaceAll('\r', '');
    const isAsBefore = before === undefined ? text === '' && !REQUIRED.includes(field) : text === shown[field];
    return isAsBefore ? undefined : text;
  };
  const change: Change = {
    ...Object.fromEntries(PLAIN.map((field) => [field, given(field)])),
    ...effortOf(given('reasoningEffort')),
    tags: given('tags')
      ?.split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    allowedTools: given('allowedTools')
      ?.split(/\s+/)
      .filter((tool) => tool !== ''),
    temperature: toNumber('temperature', given('temperature'), null),
    maxTokens: toNumber('maxTokens', given('maxTokens'), null),
    tokenBudget: toNumber('tokenBudget', given('tokenBudget'), 0),
    agentMaxTurns: toNumber('agentMaxTurns', given('agentMaxTurns'), null),
    priority: toNumber('priority', given('priority'), 0) ?? undefined,
    autoApprove: toSwitch(given('autoApprove')),
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** Sent even if they are empty: the daemon says what is missing. */
const REQUIRED: readonly Field[] = ['name', 'description', 'content'];
const PLAIN = [
  ...([
    'name',
    'description',
    'content',
    'activation',
    'kind',
    'category',
    'author',
    'license',
    'compatibility',
  ] as const),
  'model' as const,
];

function effortOf(text: string | undefined): Pick<Change, 'reasoningEffort'> {
  return text === '' || text === 'low' || text === 'medium' || text === 'high' ? { reasoningEffort: text } : {};
}

const toSwitch = (text: string | undefined): boolean | undefined => (text === undefined ? undefined : text === 'on');

function toNumber<E extends number | null>(field: Field, text: string | undefined, empty: E): number | E | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === '') return empty;
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new FieldProblem(field, 'must be a number');
}

/** The names of the fields, for people. */
const FIELD_WORDS: Record<Field, string> = {
  name: 'name',
  description: 'description',
  content: 'instructions',
  activation: 'use',
  kind: 'workstreams',
  category: 'category',
  tags: 'tags',
  author: 'author',
  license: 'licence',
  compatibility: 'compatibility',
  model: 'model',
  reasoningEffort: 'effort',
  temperature: 'temperature',
  maxTokens: 'length of answers',
  tokenBudget: 'token budget',
  agentMaxTurns: 'turns',
  priority: 'priority',
  allowedTools: 'tools that run unasked',
  autoApprove: 'running unasked',
};

/** What an edit changed, as names for people. */
export function changedFields(before: Skill, after: Skill): string[] {
  const [one, other] = [textsOf(before), textsOf(after)];
  const fields = SKILL_FIELDS.filter((field) => one[field] !== other[field]).map((field) => FIELD_WORDS[field]);
  return before.enabled === after.enabled ? fields : [...fields, after.enabled ? 'enabled' : 'disabled'];
}
