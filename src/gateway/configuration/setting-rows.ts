import type { Result } from '../../../protocol/index.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { SettingDefinition } from '../../../protocol/methods/admin/settings.ts';

/** Settings whose value in config.json has no effect, by their keys there. */
export type Overrides = ReadonlyMap<string, { value: unknown; source: 'flag' | 'environment' }>;

/** A setting of the registry, and its place in config.json. */
export interface SettingRow extends Omit<SettingDefinition, 'configKey'> {
  path: readonly string[];
}

/** The names of the specification that differ from config.json, and the keys they stand for. */
const NAMES: Readonly<Record<string, string>> = {
  defaultModel: 'model.name',
  'session.retentionDays': 'session.retention_days',
  'mcp.maxServers': 'cluster.mcp_max_servers',
  'mcp.registryUrl': 'mcp.registry_url',
  'mcp.clientMetadataUrl': 'mcp.client_metadata_url',
  'skills.discoveryUrl': 'skills.discovery_url',
  'skills.githubApiUrl': 'skills.github_api_url',
  'skills.githubRawUrl': 'skills.github_raw_url',
  'memory.relevanceK': 'memory.relevance_k',
  'memory.fetchLimit': 'memory.fetch_limit',
  'memory.maxContent': 'memory.max_content',
  'memory.nudgeCooldownSecs': 'memory.nudge_cooldown',
  'judge.outputGuard': 'judge.output_guard',
  'judge.redactSecrets': 'judge.redact_secrets',
  'tools.timeoutSecs': 'tools.timeout',
  'server.maxWorkstreams': 'server.max_workstreams',
  'ratelimit.requestsPerSecond': 'ratelimit.requests_per_second',
  'ratelimit.trustedProxies': 'ratelimit.trusted_proxies',
  'judge.useModel': 'judge.use_model',
  'judge.timeoutSecs': 'judge.timeout',
  'judge.baseUrl': 'judge.base_url',
  'judge.apiKey': 'judge.api_key',
  'judge.apiKeyEnv': 'judge.api_key_env',
  'judge.retentionDays': 'judge.retention_days',
  'judge.confidenceThreshold': 'judge.confidence_threshold',
  'judge.tokensPerQuestion': 'judge.tokens_per_question',
  'judge.maxContextRatio': 'judge.max_context_ratio',
  'judge.readOnlyTools': 'judge.read_only_tools',
  'judge.cancelOnApproval': 'judge.cancel_on_approval',
};

/** The settings of the configuration schema, except those below the keys `fileOnly` also for writing, so that nothing about them is written a second time. */
export function toSettingRows(
  { schema, uiHints }: Pick<Result<'config.schema'>, 'schema' | 'uiHints'>,
  fileOnly: readonly string[] = [],
): readonly SettingRow[] {
  return [...leavesOf(schema)].map(({ path, leaf }) => {
    const row = toRow(path, leaf, uiHints);
    return { ...row, settable: !row.isSecret && !fileOnly.some((place) => isAtOrBelow(path.join('.'), place)) };
  });
}

interface Leaf {
  path: readonly string[];
  leaf: Json;
}

/** Values without named properties of their own. A record by free names is one setting. */
function* leavesOf(schema: Json, above: readonly string[] = []): Generator<Leaf> {
  const { properties } = schema;
  if (!isRecord(properties)) return;
  for (const [key, inner] of Object.entries(properties)) {
    if (!isRecord(inner)) continue;
    const path = [...above, key];
    if (isRecord(inner.properties)) yield* leavesOf(inner, path);
    else yield { path, leaf: inner };
  }
}

function toRow(path: readonly string[], leaf: Json, hints: Hints): Omit<SettingRow, 'settable'> {
  const stored = path.join('.');
  const key = NAMES[stored] ?? stored;
  const [section = '', ...rest] = key.split('.');
  const { minimum, maximum, description } = leaf;
  const choices = choicesOf(leaf);
  return {
    path,
    key,
    type: choices ? 'str' : (TYPES[String(leaf.type)] ?? 'object'),
    description: typeof description === 'string' ? description : '',
    section: rest.length === 0 ? 'general' : section,
    // A record that holds secrets anywhere is one secret, because it is one setting.
    isSecret: Object.entries(hints).some(([place, { sensitive }]) => sensitive && isAtOrBelow(place, stored)),
    // A section that needs a restart has one hint for all of it.
    restartRequired: Object.entries(hints).some(([place, { restart }]) => restart && isAtOrBelow(stored, place)),
    default: leaf.default ?? null,
    ...(typeof minimum === 'number' && { minValue: minimum }),
    ...(typeof maximum === 'number' && { maxValue: maximum }),
    ...(choices && { choices }),
  };
}

/** The values of a leaf that has few: of an enumeration, or of one with true and false beside words. */
function choicesOf({ enum: words, const: word, anyOf }: Json): string[] | undefined {
  if (Array.isArray(words)) return words.map(String);
  if (typeof word === 'string') return [word];
  if (!Array.isArray(anyOf) || !anyOf.every(isRecord)) return undefined;
  const each = anyOf.map((one) => (one.type === 'boolean' ? ['true', 'false'] : choicesOf(one)));
  return each.every((some) => some !== undefined) ? each.flat() : undefined;
}

type Json = Record<string, unknown>;
type Hints = Result<'config.schema'>['uiHints'];

const TYPES: Readonly<Record<string, SettingDefinition['type']>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'list',
};

const isAtOrBelow = (place: string, above: string): boolean => place === above || place.startsWith(`${above}.`);

/**
 * A value in the form of its setting, because other servers store texts: a list may be one with commas, and true or false
 * may be a word where words are values, too.
 */
export function toSettingValue({ type, choices }: SettingRow, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (choices?.includes('true') && (value === 'true' || value === 'false')) return value === 'true';
  if (type !== 'list') return value;
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** What is wrong with a value; undefined if the schema has to decide. */
export function findProblem({ type, minValue, maxValue, choices }: SettingRow, value: unknown): string | undefined {
  const { fits, name } = FORMS[type];
  if (typeof value === 'boolean' && choices?.includes('true')) return undefined;
  if (!fits(value)) return `must be ${name}`;
  if (typeof value === 'number' && minValue !== undefined && value < minValue)
    return `must not be below the minimum of ${minValue}`;
  if (typeof value === 'number' && maxValue !== undefined && value > maxValue)
    return `must not be above the maximum of ${maxValue}`;
  if (choices !== undefined && !choices.includes(String(value))) return `must be one of ${choices.join(', ')}`;
  return undefined;
}

const FORMS: Record<SettingDefinition['type'], { fits(value: unknown): boolean; name: string }> = {
  str: { fits: (value) => typeof value === 'string', name: 'a text' },
  int: { fits: Number.isInteger, name: 'a whole number' },
  float: { fits: Number.isFinite, name: 'a number' },
  bool: { fits: (value) => typeof value === 'boolean', name: 'true or false' },
  list: { fits: Array.isArray, name: 'a list, or a text with commas' },
  object: { fits: isRecord, name: 'an object' },
};
