import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Result } from '../../../protocol/index.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { Setting, SettingDefinition } from '../../../protocol/methods/admin/settings.ts';
import type { Clock } from '../../clock.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import { findProblem, type Overrides, type SettingRow, toSettingRows, toSettingValue } from './setting-rows.ts';

interface SettingsDeps {
  configFile: SettingsFile;
  trail: Pick<AuditTrail, 'list'>;
  clock: Pick<Clock, 'now'>;
}

/** The configuration file, as far as the settings need it. Everything read from it is masked. */
interface SettingsFile {
  readonly overrides: Overrides;
  /** The keys that are changed only in the file itself. */
  readonly fileOnly: readonly string[];
  schema(): Pick<Result<'config.schema'>, 'schema' | 'uiHints'>;
  read(): Promise<Pick<Result<'config.get'>, 'parsed' | 'config' | 'valid' | 'issues' | 'hash'>>;
  write(raw: string, baseHash: string): Promise<{ config: unknown; applied: string[] }>;
  /** Recognizes stored values again, also masked ones. */
  digests(): Promise<(path: readonly string[]) => string>;
}

/** The result of a change, and the keys of config.json that took effect. */
interface Changed<T> {
  result: T;
  applied: string[];
}

/** What the audit trail keeps of a value: the value as it is shown, and the digest of one that is hidden. */
interface Recorded {
  value: unknown;
  digest?: string;
}

/** The settings of config.json, one by one. */
export interface DaemonSettings {
  list(): Promise<Setting[]>;
  schema(): SettingDefinition[];
  /** Throws INVALID_REQUEST or FORBIDDEN. */
  set(key: string, value: unknown, by: string): Promise<Changed<Setting> & { recorded: Recorded }>;
  /** Throws NOT_FOUND or FORBIDDEN. */
  reset(key: string): Promise<Changed<Result<'settings.reset'>>>;
}

/** The file masks its secrets, and keeps them when a mask is written back: no secret passes through here. */
export function createDaemonSettings({ configFile, trail, clock }: SettingsDeps): DaemonSettings {
  const rows = () => toSettingRows(configFile.schema(), configFile.fileOnly);
  /** Also finds a setting by its key in config.json. */
  const find = (key: string) => rows().find((row) => row.key === key || row.path.join('.') === key);

  async function readFile() {
    const { parsed, config, valid, issues, hash } = await configFile.read();
    if (valid && isRecord(parsed) && isRecord(config)) return { parsed, config, hash };
    const problems = issues.map(({ path, message }) => `${path || 'the file'}: ${message}`);
    throw new GatewayError('INVALID_REQUEST', `config.json cannot be used: ${problems.join('; ')}`);
  }

  /** The issues stay in the message alone: HTTP would rename the keys of config.json in them to its own style. */
  async function writeFile(config: Json, hash: string, { key, path }: SettingRow) {
    try {
      return await configFile.write(`${JSON.stringify(config, null, 2)}\n`, hash);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const problem = problemWith(path.join('.'), error);
      throw new GatewayError(error.code, problem === undefined ? error.message : `${key}: ${problem}`, {
        cause: error,
      });
    }
  }

  return {
    async list() {
      const { parsed, config } = await readFile();
      const [changes, digestAt] = [await lastChanges(trail), await configFile.digests()];
      return rows().map((row) =>
        toSetting(row, { parsed, config, changes, digestAt, overrides: configFile.overrides }),
      );
    },
    schema: () => rows().map(({ path, ...definition }) => ({ ...definition, configKey: path.join('.') })),
    async set(key, given, by) {
      if (given === undefined || given === null) throw new GatewayError('INVALID_REQUEST', 'value is required');
      const row = find(key);
      if (row === undefined) throw new GatewayError('INVALID_REQUEST', `Unknown setting: ${key}`);
      if (row.isSecret) throw secretRefused();
      const { parsed, hash } = await readFile();
      const value = toStored(toSettingValue(row, given), row, valueAt(parsed, row.path));
      const { config, applied } = await writeFile(withValue(parsed, row.path, value), hash, row);
      // As the file tells it: it may hide what was sent.
      const stored = shown(row, valueAt(config, row.path) ?? null);
      const digestAt = await configFile.digests();
      const told = { changedBy: by, updatedAtMs: clock.now() };
      const result = { ...describe(row), ...inForce(row, { stored, overrides: configFile.overrides }), ...told };
      return { result, applied, recorded: toRecorded(stored, () => digestAt(row.path)) };
    },
    async reset(key) {
      const notFound = () => new GatewayError('NOT_FOUND', `Setting '${key}' not found in storage`);
      const row = find(key);
      if (row === undefined) throw notFound();
      if (row.isSecret) throw secretRefused();
      const { parsed, hash } = await readFile();
      if (valueAt(parsed, row.path) === undefined) throw notFound();
      const { applied } = await writeFile(withoutValue(parsed, row.path), hash, row);
      return { result: { key: row.key, default: row.default }, applied };
    },
  };
}

/** What a refusal of the file says about one key, if that is all it says. */
function problemWith(key: string, { details }: GatewayError): string | undefined {
  const issues: unknown[] = isRecord(details) && Array.isArray(details.issues) ? details.issues : [];
  const [issue] = issues;
  if (issues.length !== 1 || !isRecord(issue) || issue.path !== key) return undefined;
  return typeof issue.message === 'string' ? issue.message : undefined;
}

const UNCHANGED = { changedBy: '' };

interface Told {
  parsed: Json;
  config: Json;
  changes: Awaited<ReturnType<typeof lastChanges>>;
  digestAt(path: readonly string[]): string;
  overrides: Overrides;
}

/** A row of the list. The change that the audit trail has last tells who made it, if its value is still there. */
function toSetting(row: SettingRow, { parsed, config, changes, digestAt, overrides }: Told): Setting {
  const isStored = valueAt(parsed, row.path) !== undefined;
  const stored = shown(row, valueAt(config, row.path) ?? row.default);
  const change = isStored ? changes.get(row.key) : undefined;
  const isSame =
    change &&
    isDeepStrictEqual(
      change.recorded,
      toRecorded(stored, () => digestAt(row.path)),
    );
  const source = isStored ? 'storage' : 'default';
  return { ...describe(row), ...inForce(row, { stored, overrides, source }), ...(isSame ? change.told : UNCHANGED) };
}

/** A flag or a variable wins over what is stored. */
function inForce(
  row: SettingRow,
  { stored, overrides, source = 'storage' }: { stored: unknown; overrides: Overrides; source?: Setting['source'] },
): Pick<Setting, 'value' | 'source'> {
  const override = overrides.get(row.path.join('.'));
  return override ? { value: shown(row, override.value), source: override.source } : { value: stored, source };
}

const describe = ({ key, type, description, section, isSecret, restartRequired }: SettingRow) => ({
  key,
  type,
  description,
  section,
  isSecret,
  restartRequired,
});

/** Also hides an address with a password, which the file has masked. */
function shown({ isSecret, default: usual }: SettingRow, value: unknown): unknown {
  const isHidden = isSecret && JSON.stringify(value) !== JSON.stringify(usual);
  return isHidden || JSON.stringify(value)?.includes('"<secret:') ? HIDDEN : value;
}

const HIDDEN = '***';

/** The value to store. Whoever saves a hidden value as it was shown keeps it. Throws INVALID_REQUEST. */
function toStored(sent: unknown, row: SettingRow, stored: unknown): unknown {
  const [first, ...more] = Array.isArray(sent) ? sent : [sent];
  if (first === HIDDEN && more.length === 0 && shown(row, stored) === HIDDEN) return stored;
  const problem = [first, ...more].includes(HIDDEN) ? NO_MASK : findProblem(row, sent);
  if (problem !== undefined) throw new GatewayError('INVALID_REQUEST', `${row.key}: ${problem}`);
  return sent;
}

const NO_MASK = `${HIDDEN} stands for no stored value here; write the whole value itself`;

const toRecorded = (stored: unknown, digest: () => string): Recorded =>
  stored === HIDDEN ? { value: stored, digest: digest() } : { value: stored };

const secretRefused = () =>
  new GatewayError(
    'FORBIDDEN',
    'Secret settings cannot be modified via API — use config.json or environment variables',
  );

/** The latest records are enough: settings change rarely. */
async function lastChanges(trail: Pick<AuditTrail, 'list'>) {
  const { events } = await trail.list({ action: 'setting.update', outcome: 'ok' }, { limit: 200, offset: 0 });
  return new Map(
    events
      .toReversed() // of several changes, the newest stays
      .map(({ resourceId, username, userId, atMs, detail }) => {
        const recorded: unknown = JSON.parse(detail);
        return [resourceId, { told: { changedBy: username || userId, updatedAtMs: atMs }, recorded }] as const;
      }),
  );
}

type Json = Record<string, unknown>;

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);

function withValue(target: Json, [key = '', ...rest]: readonly string[], value: unknown): Json {
  if (rest.length === 0) return { ...target, [key]: value };
  const inner = target[key];
  return { ...target, [key]: withValue(isRecord(inner) ? inner : {}, rest, value) };
}

/** A section that becomes empty is removed, too. */
function withoutValue(target: Json, [key = '', ...rest]: readonly string[]): Json {
  const { [key]: inner, ...others } = target;
  if (rest.length === 0 || !isRecord(inner)) return others;
  const left = withoutValue(inner, rest);
  return Object.keys(left).length === 0 ? others : { ...target, [key]: left };
}
