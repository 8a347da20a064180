import { GatewayError } from '../../../protocol/errors.ts';
import type { Params } from '../../../protocol/index.ts';
import { SKILL_ACTIVATIONS, SKILL_KINDS, type Skill } from '../../../protocol/methods/skills/skill.ts';
import { TEMPLATE_NUMBERS } from '../../../protocol/methods/templates/wstemplate.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { skillNameProblems, toSkillName } from '../../content/skills/validate-skill.ts';
import { checkContent, checkNotification, checkVariables, required, requireName } from '../templates/template-input.ts';
import type { SkillFields } from './skill-rows.ts';

type Asked = Params<'skill.create'>;

/** What can be changed of an installed skill: how it is used, and not what it says. */
const RUNTIME = [
  ...['activation', 'enabled', 'priority', 'model', 'autoApprove', 'allowedTools', 'temperature', 'reasoningEffort'],
  ...['maxTokens', 'tokenBudget', 'agentMaxTurns', 'notifyOnComplete'],
];

/** The fields that were given, checked. `before`: the name so far, which stays possible whatever it is. Null empties a number. Throws with the words that clients of the specification expect. */
export function toSkillChange(asked: Asked, before?: string): Partial<SkillFields> {
  const { name, content, description, variables, notifyOnComplete, isDefault, activation, kind, ...others } = asked;
  const { temperature, maxTokens, tokenBudget, agentMaxTurns, ...rest } = others;
  const plain = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return {
    ...plain,
    ...(name !== undefined && { name: name === before ? name : checkSkillName(name) }),
    ...textsOf({ content, description, variables, notifyOnComplete }),
    ...usesOf({ activation: activation ?? activationOf(isDefault), kind }),
    ...numbersOf({ temperature, maxTokens, tokenBudget, agentMaxTurns }),
  };
}

type Given<K extends keyof Asked> = { readonly [F in K]: Asked[F] | undefined };

/** As the specification of skills has it, so that a skill can be moved to a folder. */
export function checkSkillName(given: string): string {
  const name = toSkillName(requireName(given));
  const [problem] = skillNameProblems(name);
  if (problem === undefined) return name;
  throw new GatewayError('INVALID_REQUEST', toVisibleLine(problem));
}

const textsOf = ({
  content,
  description,
  variables,
  notifyOnComplete,
}: Given<'content' | 'description' | 'variables' | 'notifyOnComplete'>): Partial<SkillFields> => ({
  ...(content !== undefined && { content: checkContent(content) }),
  ...(description !== undefined && { description: checkDescription(description) }),
  ...(variables !== undefined && { variables: checkVariables(variables) }),
  ...(notifyOnComplete !== undefined && { notifyOnComplete: checkNotification(notifyOnComplete) }),
});

const usesOf = ({ activation, kind }: Given<'activation' | 'kind'>): Partial<SkillFields> => ({
  ...(activation !== undefined && { activation: oneOf('activation', activation, SKILL_ACTIVATIONS) }),
  ...(kind !== undefined && { kind: oneOf('kind', kind, SKILL_KINDS) }),
});

const numbersOf = ({
  temperature,
  maxTokens,
  tokenBudget,
  agentMaxTurns,
}: Given<'temperature' | 'maxTokens' | 'tokenBudget' | 'agentMaxTurns'>): Partial<SkillFields> => ({
  ...(temperature !== undefined && { temperature: inRange('temperature', temperature, 'between 0 and 2') }),
  ...(maxTokens !== undefined && { maxTokens: inRange('maxTokens', maxTokens, 'between 1 and 10000000') }),
  ...(tokenBudget !== undefined && {
    tokenBudget: inRange('tokenBudget', tokenBudget, 'between 0 and 1000000000000') ?? 0,
  }),
  ...(agentMaxTurns !== undefined && { agentMaxTurns: inRange('agentMaxTurns', agentMaxTurns, 'between 1 and 10000') }),
});

const activationOf = (isDefault: boolean | undefined) => {
  if (isDefault === undefined) return undefined;
  return isDefault ? 'default' : 'named';
};

/** The part of a change that is possible: people send installed skills back as a whole. Throws if nothing of it is. */
export function possibleChange({ origin }: Pick<Skill, 'origin'>, change: Partial<SkillFields>): Partial<SkillFields> {
  const isReadOnly = origin === 'source';
  const possible = isReadOnly
    ? Object.fromEntries(Object.entries(change).filter(([field]) => RUNTIME.includes(field)))
    : change;
  if (Object.keys(possible).length > 0) return possible;
  throw new GatewayError('INVALID_REQUEST', isReadOnly ? 'No runtime config fields to update' : 'No fields to update');
}

export function checkDescription(description: string): string {
  if (description.trim() === '') throw required('description');
  return description.trim();
}

function oneOf<T extends string>(field: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  if (found === undefined) throw wrongField(field, `must be one of: ${known.join(', ')}`, { separator: ' ' });
  return found;
}

function inRange(field: keyof typeof TEMPLATE_NUMBERS, value: number | null, range: string): number | null {
  if (value === null || TEMPLATE_NUMBERS[field].safeParse(value).success) return value;
  throw wrongField(field, `must be ${range}`, { separator: ' ' });
}

const MOST_PATH = 512;

/** The path of a resource. Throws with the words that clients of the specification expect. */
export function checkResourcePath(path: string | undefined): string {
  if (path === undefined || path.trim() === '') throw required('path');
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..') && PLAIN.test(path);
  if (!isPlain || path.length > MOST_PATH) throw new GatewayError('INVALID_REQUEST', 'Invalid path'); // the words of the specification do not begin with the field
  if (parts.length > 1 && ['scripts', 'references', 'assets'].includes(parts[0] ?? '')) return path;
  throw wrongField('path', 'must start with scripts/, references/, or assets/', { separator: ' ' });
}

/** No control characters, no other separators, and nothing that is invisible. */
const PLAIN = /^[^\\\p{C}\p{Zl}\p{Zp}]+$/u;
