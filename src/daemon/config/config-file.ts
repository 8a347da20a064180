import { createHash } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import JSON5 from 'json5';
import { z } from 'zod';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Result } from '../../../protocol/index.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { ConfigIssue } from '../../../protocol/methods/config.ts';
import { check } from '../../../protocol/parse.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Overrides } from '../../gateway/configuration/setting-rows.ts';
import type { ConfigChange, ConfigFile } from '../../gateway/methods/config.ts';
import { hasCode, readPlainFile } from '../../home/private-file.ts';
import { replaceFile } from '../../home/replace-file.ts';
import { isSecretKey } from '../../secret-key.ts';
import { Config, findTooDeep, unknownKeys } from './config.ts';
import { maskText, maskValue, unmaskText } from './config-secrets.ts';
import type { KeyHostBindings } from './key-hosts.ts';
import { changedKeys, effectOf, type LiveConfig } from './live-config.ts';
import type { StartCheck } from './start-check.ts';

interface ConfigFileDeps {
  home: string;
  live: Pick<LiveConfig, 'check' | 'apply' | 'whole'>;
  keyHosts: KeyHostBindings;
  /** Why the next start would refuse it. */
  checkStart: StartCheck;
  overrides: Overrides;
  version: string;
  clock: Pick<Clock, 'now'>;
  /** With a key of this machine. */
  digestOf(text: string): string;
}

/** A change as a client sent it, with masks for unchanged secrets, and the file before it. */
interface Change {
  raw: string;
  before: string | undefined;
}

/** The result of reading the file. */
interface Reading {
  /** Undefined if it is not JSON, or nested too deeply to be processed. */
  parsed: unknown;
  config: Config | undefined;
  issues: ConfigIssue[];
}

/** `<home>/config.json` for clients: secrets are masked, and a write replaces it atomically and keeps the old one as `.bak`. */
export function createConfigFile(deps: ConfigFileDeps): ConfigFile {
  const { home, live, keyHosts, checkStart, version, clock, digestOf } = deps;
  const file = path.join(home, 'config.json');

  /** Everything is checked before anything is written. */
  async function replace(text: string, { raw, before }: Change): Promise<ConfigChange> {
    const { parsed, config, issues } = readConfig(text);
    if (config === undefined) throw invalid(issues);
    const typed = new Set(textsOf(readConfig(raw).parsed));
    const { parsed: old = {}, config: current } = readConfig(before ?? '{}');
    const moved = keyHosts.check(config, { before: current, typed });
    const refused = await checkStart(config, current);
    const problems = [...live.check(config), ...moved, ...findFileOnlyChanges(current, config), ...refused];
    if (problems.length > 0) throw invalid(problems);
    await keyHosts.remember(config); // first, because the file must not use what is not bound; it only adds
    if (text !== before) await writeText(file, text);
    const effect = await orPutBack(() => live.apply(config), { file, before });
    return { path: file, config: maskValue(config), issues, changed: changedKeys(old, parsed), ...effect };
  }

  return {
    async read() {
      const text = await readText(file);
      const { parsed, config, issues } = readConfig(text ?? '{}');
      return {
        path: file,
        exists: text !== undefined,
        raw: text === undefined ? null : maskText(text),
        parsed: maskValue(parsed) ?? null,
        valid: config !== undefined,
        config: maskValue(config) ?? {},
        issues,
        hash: hashOf(text),
      };
    },
    async write(raw, baseHash) {
      const before = await readText(file);
      if (baseHash !== undefined) requireBase(baseHash, before);
      return replace(unmask(raw, before), { raw, before });
    },
    async patch(raw, baseHash) {
      const before = await readText(file);
      requireBase(baseHash, before);
      const { parsed, issues } = readConfig(before ?? '{}');
      if (!isRecord(parsed)) throw invalid(issues);
      const patch = parsePatch(unmask(raw, before));
      return replace(`${JSON.stringify(mergePatch(parsed, patch), null, 2)}\n`, { raw, before });
    },
    async reload() {
      const { config, issues } = readConfig((await readText(file)) ?? '{}');
      if (config === undefined) throw invalid(issues);
      const problems = [...live.check(config), ...(await checkStart(config, live.whole()))];
      if (problems.length > 0) throw invalid(problems);
      await keyHosts.remember(config);
      return live.apply(config);
    },
    async digests() {
      const { parsed } = readConfig((await readText(file)) ?? '{}');
      return (path) => digestOf(JSON.stringify([path, valueAt(parsed, path)]));
    },
    overrides: new Map(
      [...deps.overrides].map(([key, { value, source }]) => [key, { value: maskValue(value, key.split('.')), source }]),
    ),
    fileOnly: FILE_ONLY,
    schema() {
      const schema = z.toJSONSchema(Config, { io: 'input' });
      const generatedAt = new Date(clock.now()).toISOString();
      return { schema, uiHints: Object.fromEntries(hintsOf(schema)), version, generatedAt };
    },
  };
}

/**
 * Whoever chooses the login provider, or maps its groups to roles, can become anybody here. Whoever names tool servers starts
 * programs, and can give them secrets of the daemon. Whoever chooses the database chooses its users.
 */
const FILE_ONLY = ['oidc', 'mcp.servers', 'store'];

function findFileOnlyChanges(before: Config | undefined, next: Config): ConfigIssue[] {
  const { oidc, mcp, store } = before ?? Config.parse({});
  return [
    ...findChanges('oidc', oidc, next.oidc),
    ...findChanges('mcp.servers', mcp.servers, next.mcp.servers),
    ...findChanges('store', store, next.store),
  ];
}

function findChanges(place: string, before: object, next: object): ConfigIssue[] {
  const current = new Map<string, unknown>(Object.entries(before));
  const wanted = new Map<string, unknown>(Object.entries(next));
  return [...new Set([...current.keys(), ...wanted.keys()])]
    .filter((key) => !isDeepStrictEqual(current.get(key), wanted.get(key)))
    .map((key) => ({ path: `${place}.${key}`, message: 'can be changed only in config.json itself, on the machine' }));
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readPlainFile(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new GatewayError('UNAVAILABLE', `config.json cannot be read`, { cause: error });
  }
}

/** Writes what is behind a link, as managers of dotfiles make them, and leaves the link. */
async function writeText(file: string, text: string): Promise<void> {
  try {
    await replaceFile(await behindLinks(file), text);
  } catch (error) {
    throw new GatewayError('UNAVAILABLE', `config.json cannot be written: ${wordsOf(error)}`, { cause: error });
  }
}

/** The file has its former text again if the new one is refused after all. */
async function orPutBack<T>(
  apply: () => T,
  { file, before }: { file: string; before: string | undefined },
): Promise<T> {
  try {
    return apply();
  } catch (error) {
    if (before === undefined) await rm(file, { force: true });
    else await writeText(file, before);
    throw error;
  }
}

async function behindLinks(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return file;
    throw error;
  }
}

function readConfig(text: string): Reading {
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch (error) {
    return { parsed: undefined, config: undefined, issues: [{ path: '', message: wordsOf(error) }] };
  }
  const tooDeep = findTooDeep(parsed);
  if (tooDeep !== undefined) return { parsed: undefined, config: undefined, issues: [tooDeep] };
  const result = check(Config, parsed);
  if (result.success) {
    const unknown = unknownKeys(parsed, result.data);
    const issues = unknown.map((key) => ({ path: key, message: 'is not a setting and has no effect' }));
    return { parsed, config: result.data, issues };
  }
  const issues = result.error.issues.map(({ path: keys, message }) => ({ path: keys.join('.'), message }));
  return { parsed, config: undefined, issues };
}

const parse = (text: string): unknown => {
  const source = text.replace(/^\uFEFF/, '');
  // The start refuses an empty file too: an interrupted write leaves one behind.
  if (source.trim() === '') throw new Error('is empty; write {} for the defaults');
  try {
    return JSON5.parse(source);
  } catch (error) {
    throw new Error(`is not JSON (JSON5 is fine): ${wordsOf(error).replace(/^JSON5: /, '')}`, { cause: error });
  }
};

function parsePatch(raw: string): Json {
  let patch: unknown;
  try {
    patch = parse(raw);
  } catch (error) {
    throw new GatewayError('INVALID_REQUEST', `config.patch raw ${wordsOf(error)}`, { cause: error });
  }
  const tooDeep = findTooDeep(patch);
  if (tooDeep !== undefined) throw invalid([tooDeep]);
  if (!isRecord(patch)) throw new GatewayError('INVALID_REQUEST', 'config.patch raw must be an object');
  return patch;
}

/** Unparseable input passes through unchanged; reading it later reports the problem. */
function unmask(raw: string, before: string | undefined): string {
  if (readConfig(raw).parsed === undefined) return raw;
  try {
    return unmaskText(raw, readConfig(before ?? '{}').parsed);
  } catch (error) {
    throw new GatewayError('INVALID_REQUEST', wordsOf(error), { cause: error });
  }
}

function requireBase(baseHash: string, text: string | undefined): void {
  if (baseHash === hashOf(text)) return;
  throw new GatewayError('CONFLICT', 'config changed since last load; re-run config.get and retry');
}

const hashOf = (text: string | undefined): string =>
  createHash('sha256')
    .update(text ?? '')
    .digest('hex');

function invalid(issues: readonly ConfigIssue[]): GatewayError {
  const named = issues.map(({ path: place, message }) => `${place || 'the file'}: ${message}`).join('; ');
  return new GatewayError('INVALID_REQUEST', `invalid config: ${named}`, { details: { issues } });
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);

type Json = Record<string, unknown>;

/** All strings inside a value, without keys. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** RFC 7386. */
function mergePatch(target: Json, patch: Json): Json {
  // In a Map, `__proto__` is an ordinary key.
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    const inner = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isRecord(value) ? mergePatch(isRecord(inner) ? inner : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

type Hint = Result<'config.schema'>['uiHints'][string];

/** The hints of the schema by place; `*` stands for every name. A section that needs a restart has one hint for all of it. */
function* hintsOf(schema: unknown, above = '', isSaid = false): Generator<[place: string, hint: Hint]> {
  for (const [key, inner] of settingsOf(schema)) {
    const place = `${above}${key}`;
    const restart = !isSaid && effectOf(place) === 'restart';
    const sensitive = isSecretKey(key) && isRecord(inner) && inner.type === 'string';
    if (sensitive || restart) yield [place, { ...(sensitive && { sensitive }), ...(restart && { restart }) }];
    yield* hintsOf(inner, `${place}.`, isSaid || effectOf(place) !== 'mixed');
  }
}

function settingsOf(schema: unknown): [key: string, schema: unknown][] {
  if (!isRecord(schema)) return [];
  const { properties, additionalProperties } = schema;
  if (additionalProperties !== undefined) return [['*', additionalProperties]];
  return isRecord(properties) ? Object.entries(properties) : [];
}
