import path from 'node:path';
import JSON5 from 'json5';
import { z } from 'zod';
import { isRecord } from '../../../protocol/is-record.ts';
import type { ConfigIssue } from '../../../protocol/methods/config.ts';
import { VISIBILITIES } from '../../../protocol/methods/conversation/sharing.ts';
import { checkOnce } from '../../../protocol/parse.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { ModelsConfig } from '../../agent/providers/models-config.ts';
import { hasCode, readPlainFile } from '../../home/private-file.ts';
import { NodesConfig } from '../../lending/command-policy.ts';
import { LOG_LEVELS } from '../../log.ts';
import { StartError } from '../../start-error.ts';
import { StoreConfig } from '../store/store-config.ts';
import { defaultConfig } from './built/default-config.ts';
import { ChannelsConfig } from './channels/channels-config.ts';
import { CheckpointsConfig } from './checkpoints-config.ts';
import { HooksConfig } from './hooks-config.ts';
import { JudgeConfig } from './judge-config.ts';
import { McpConfig } from './mcp-config.ts';
import { MemoryConfig } from './memory-config.ts';
import { OidcConfig } from './oidc-config.ts';
import { RateLimitConfig, ServerConfig } from './server-config.ts';
import { SessionConfig } from './session-config.ts';
import { SkillsConfig } from './skills-config.ts';
import { ToolsConfig } from './tools-config.ts';

const WorkstreamsConfig = z.object({
  visibility: z
    .enum(VISIBILITIES)
    .default('shared')
    .describe('Who sees a workstream that a user creates without choosing: everyone here, or only that user.'),
});

const AuthConfig = z.object({
  /** Who may create the first user: everybody, or who knows the setup code. `auto`: everybody on a loopback address, elsewhere for 15 minutes. */
  setup: z.enum(['auto', 'open', 'code']).default('auto').describe('Who may create the first user.'),
});

const EgressConfig = z.object({
  privateHosts: z
    .array(z.string().min(1).max(253))
    .max(1_000)
    .default([])
    .describe('Host names of models and web hooks that may resolve to private addresses.'),
});

const ApprovalsConfig = z.object({
  alwaysSecs: z
    .int()
    .min(0)
    .max(31_536_000)
    .default(28_800)
    .describe('Seconds that auto-approve lasts; 0: until somebody turns it off.'),
});

/** What models may use, in tokens or in US dollars. */
const BudgetConfig = z.object({
  tokens: z.int().min(1).max(1_000_000_000_000).optional().describe('The budget in tokens.'),
  usd: z.number().min(0.000001).max(1_000_000).optional().describe('The budget in US dollars.'),
});

const BudgetsConfig = z.object({
  run: BudgetConfig.optional(),
  workstream: BudgetConfig.optional(),
  /** These three count one day (UTC). */
  principal: BudgetConfig.optional(),
  model: BudgetConfig.optional(),
  day: BudgetConfig.optional(),
});

const CronConfig = z.object({
  enabled: z.boolean().default(true).describe('Whether jobs run on schedule.'),
  maxConcurrentRuns: z.int().min(1).max(64).default(4).describe('Maximum jobs that run at once.'),
  retentionDays: z.int().min(1).max(36_500).default(90).describe('Days that the history of jobs is kept.'),
});

const Folder = z
  .string()
  .refine((text) => path.isAbsolute(text) || /^~(\/|$)/.test(text), 'must be absolute or start with ~/');

const AgentsConfig = z.object({
  trusted: z
    .array(Folder)
    .max(1_000)
    .default([])
    .describe('Folders, with everything below them, whose instruction files and commands are used.'),
  parallel: z.int().min(1).max(16).default(4).describe('How many sub-agents of a run work at once.'),
  maxTimeoutSecs: z
    .int()
    .min(1)
    .max(604_800)
    .default(7_200)
    .describe('The longest time limit that the agent can give a sub-agent, in seconds.'),
});

const OtelConfig = z.object({
  endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The address of an OpenTelemetry collector (OTLP over HTTP) that gets spans. Without it, nothing is sent.',
    ),
  sampleRatio: z.number().min(0).max(1).default(1).describe('The share of traces that are sent.'),
});

/** config.json, with every default filled in. docs/configuration.md has one row per key. */
export const Config = ModelsConfig.extend({
  tools: ToolsConfig.prefault({}),
  hooks: HooksConfig,
  mcp: McpConfig.prefault({}),
  server: ServerConfig.prefault({}),
  ratelimit: RateLimitConfig.prefault({}),
  auth: AuthConfig.prefault({}),
  /** Logging in through an OpenID Connect provider. */
  oidc: OidcConfig.prefault({}),
  channels: ChannelsConfig.prefault({}),
  /** Where the daemon may send its requests to models and webhooks. */
  egress: EgressConfig.prefault({}),
  heartbeatMinutes: z
    .int()
    .min(0)
    .max(10_080)
    .default(0)
    .describe('Minutes between heartbeat turns of the main session; 0: never.'),
  cron: CronConfig.prefault({}),
  nodes: NodesConfig.default({}).describe('Which commands may be sent to nodes, by node id.'),
  store: StoreConfig.prefault({}),
  durability: z
    .enum(['normal', 'full'])
    .default('normal')
    .describe('With full, writes also survive a power loss, and each of them waits for the disk.'),
  retentionDays: z
    .int()
    .min(1)
    .max(36_500)
    .default(30)
    .describe('Days that single events are kept for clients that resume. Conversations are not deleted.'),
  approvalTimeoutSecs: z
    .int()
    .min(10)
    .max(31_536_000)
    .default(3_600)
    .describe('Seconds that a question waits for an answer before it is denied.'),
  approvals: ApprovalsConfig.prefault({}),
  session: SessionConfig.prefault({}),
  checkpoints: CheckpointsConfig.prefault({}),
  memory: MemoryConfig.prefault({}),
  skills: SkillsConfig.prefault({}),
  judge: JudgeConfig.prefault({}),
  agents: AgentsConfig.prefault({}),
  budgets: BudgetsConfig.optional(),
  workstreams: WorkstreamsConfig.prefault({}),
  workdir: Folder.optional().describe('Where the agent works. Default: the folder workspace in the home.'),
  workdirs: z
    .array(Folder)
    .max(1_000)
    .optional()
    .describe(
      'Folders in which callers without the approve scope may start work. Default: the working directory, and folders that approvers have named.',
    ),
  otel: OtelConfig.prefault({}),
  logLevel: z.enum(LOG_LEVELS).default('info').describe('The least severe messages that are logged.'),
});
export type Config = z.infer<typeof Config>;

export interface LoadedConfig {
  config: Config;
  /** One line for each thing in the file that has no effect. */
  warnings: string[];
}

/** Reads `<home>/config.json` (JSON5: comments and trailing commas are fine). Never writes it. */
export async function loadConfig(home: string): Promise<LoadedConfig> {
  const file = path.join(home, 'config.json');
  const text = await readText(file);
  return parseConfig(text ?? '{}', file);
}

/** The text of a config file; `file` is its name in messages. */
export function parseConfig(text: string, file: string): LoadedConfig {
  const value = parseJson5(text, file);
  const tooDeep = findTooDeep(value);
  if (tooDeep !== undefined) throw unusable(file, [tooDeep]);
  const parsed = checkGiven(value, defaultConfig);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path: keys, message }) => ({ path: keys.join('.'), message }));
    throw unusable(file, issues);
  }
  const warnings = unknownKeys(value, parsed.data).map((key) => `${file}: "${key}" is not a setting and has no effect`);
  return { config: parsed.data, warnings };
}

/**
 * Checks a configuration with the schemas of the keys that it has. The others have their `defaults`, the JSON of an empty configuration;
 * without it, the schemas fill them in.
 */
export function checkGiven(value: unknown, defaults: string | undefined): z.ZodSafeParseResult<Config> {
  if (defaults === undefined || !isRecord(value)) return checkOnce(Config, value);
  const given = Object.keys(value).flatMap((key) => {
    const fields: Record<string, z.ZodType> = Config.shape;
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return field === undefined ? [] : [[key, field] as const];
  });
  const parsed = checkOnce(z.object(Object.fromEntries(given)), value);
  if (!parsed.success) return checkOnce(Config, value); // with all problems in the order of the schema
  const config: Config = Object.assign(JSON.parse(defaults), parsed.data);
  return { success: true, data: config };
}

function unusable(file: string, issues: readonly ConfigIssue[]): StartError {
  const problems = issues.map(({ path: place, message }) => `${place || 'the file'}: ${message}`);
  return new StartError(`${file} cannot be used: ${problems.join('; ')}.`);
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readPlainFile(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined; // opening the home reports more
    throw new StartError(`${file} cannot be read: ${wordsOf(error)}`, {
      cause: error,
    });
  }
}

function parseJson5(text: string, file: string): unknown {
  const source = text.replace(/^\uFEFF/, '');
  // An interrupted write leaves an empty file. Its settings may have been stricter than the defaults, so refuse it.
  if (source.trim() === '') throw new StartError(`${file} is empty. Remove it, or write {} into it, for the defaults.`);
  try {
    return JSON5.parse(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON5: /, '') : String(error);
    throw new StartError(`${file} is not JSON (JSON5 is fine): ${reason}. The file was not changed.`, { cause: error });
  }
}

const MAX_LEVELS = 32;

/** Names the top-level key that is nested too deeply. The functions that walk a configuration recurse once per level. */
export function findTooDeep(value: unknown): ConfigIssue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = Object.entries(value).find(([, inner]) => isNestedDeeper(inner, MAX_LEVELS - 1));
  return found && { path: found[0], message: `is nested too deeply (at most ${MAX_LEVELS} levels)` };
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1));
}

/** Keys that are missing from the output, because schemas drop unknown keys. `$schema` is for editors. */
export function unknownKeys(input: unknown, output: unknown, prefix = ''): string[] {
  if (!isRecord(input) || !isRecord(output)) return [];
  return Object.entries(input).flatMap(([key, value]) => {
    if (Object.hasOwn(output, key)) return unknownKeys(value, output[key], `${prefix}${key}.`);
    return key.startsWith('$') ? [] : [`${prefix}${key}`];
  });
}
