import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import JSON5 from 'json5';
import { z } from 'zod';
import { GatewayError } from '../protocol/errors.ts';
import type { ConfigIssue } from '../protocol/methods/config.ts';
import { check } from '../protocol/parse.ts';
import type { Clock } from '../src/clock.ts';
import type { ConfigChange, ConfigFile } from '../src/gateway/methods/config.ts';
import { hasCode } from '../src/gateway/store/private-file.ts';
import { replaceFile } from '../src/gateway/store/replace-file.ts';
import { Config, unknownKeys } from './config.ts';
import { maskText, maskValue, unmaskText } from './config-secrets.ts';
import { LIVE_KEYS, type LiveConfig } from './live-config.ts';
import { StartError } from './start-error.ts';

interface ConfigFileDeps {
  home: string;
  live: Pick<LiveConfig, 'check' | 'apply'>;
  version: string;
  clock: Pick<Clock, 'now'>;
}

/** What a text of the file comes to. */
interface Reading {
  parsed: unknown;
  config: Config | undefined;
  issues: ConfigIssue[];
}

/** `<home>/config.json` for clients: read masked, written whole, atomically, with the version before kept as `.bak`. */
export function createConfigFile({ home, live, version, clock }: ConfigFileDeps): ConfigFile {
  const file = path.join(home, 'config.json');

  /** Everything is checked before anything is written. */
  async function replace(text: string, before: string | undefined): Promise<ConfigChange> {
    const { config, issues } = readConfig(text);
    if (config === undefined) throw invalid(issues);
    try {
      live.check(config);
    } catch (error) {
      throw error instanceof StartError ? invalid([{ path: 'channels', message: error.message }]) : error;
    }
    if (text !== before) await replaceFile(file, text);
    return { path: file, config: maskValue(config), ...live.apply(config) };
  }

  return {
    async read() {
      const text = await readText(file);
      const { parsed, config, issues } = readConfig(text ?? '{}');
      return {
        path: file,
        exists: text !== undefined,
        raw: text === undefined ? null : maskText(text, parsed),
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
      return replace(unmask(raw, before), before);
    },
    async patch(raw, baseHash) {
      const before = await readText(file);
      requireBase(baseHash, before);
      const { parsed, issues } = readConfig(before ?? '{}');
      if (!isRecord(parsed)) throw invalid(issues);
      const patch = parsePatch(unmask(raw, before));
      return replace(`${JSON.stringify(mergePatch(parsed, patch), null, 2)}\n`, before);
    },
    schema: () => ({
      schema: z.toJSONSchema(Config, { io: 'input' }),
      uiHints: {
        'models.*.apiKey': { sensitive: true },
        'channels.webhook.*.secret': { sensitive: true },
        ...Object.fromEntries(
          Object.keys(Config.shape)
            .filter((key) => !LIVE_KEYS.includes(key))
            .map((key) => [key, { restart: true }]),
        ),
      },
      version,
      generatedAt: new Date(clock.now()).toISOString(),
    }),
  };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new GatewayError('UNAVAILABLE', `config.json cannot be read`, { cause: error });
  }
}

function readConfig(text: string): Reading {
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch (error) {
    return { parsed: undefined, config: undefined, issues: [{ path: '', message: wordsOf(error) }] };
  }
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
  // As the start sees it: such a file is what a write that was cut off leaves.
  if (source.trim() === '') throw new Error('is empty; write {} for the defaults');
  try {
    return JSON5.parse(source);
  } catch (error) {
    throw new Error(`is not JSON (JSON5 is fine): ${wordsOf(error).replace(/^JSON5: /, '')}`, { cause: error });
  }
};

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function parsePatch(raw: string): Json {
  let patch: unknown;
  try {
    patch = parse(raw);
  } catch (error) {
    throw new GatewayError('INVALID_REQUEST', `config.patch raw ${wordsOf(error)}`, { cause: error });
  }
  if (!isRecord(patch)) throw new GatewayError('INVALID_REQUEST', 'config.patch raw must be an object');
  return patch;
}

function unmask(raw: string, before: string | undefined): string {
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

type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7386. */
function mergePatch(target: Json, patch: Json): Json {
  // A Map takes every key as a key, `__proto__` too.
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    const inner = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isRecord(value) ? mergePatch(isRecord(inner) ? inner : {}, value) : value);
  }
  return Object.fromEntries(merged);
}
