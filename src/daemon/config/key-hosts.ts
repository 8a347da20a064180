import path from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import type { ConfigIssue } from '../../../protocol/methods/config.ts';
import { baseUrlOf, usualKeyOf } from '../../agent/providers/model-choice.ts';
import type { Clock } from '../../clock.ts';
import { jsonDocument } from '../../home/json-document.ts';
import type { Log } from '../../log.ts';
import type { Config } from './config.ts';
import { ownJudge } from './judge-config.ts';
import { searchKeyOf } from './search-config.ts';

/** Variables that a change over the wire may use with any host at first. The providers' own variables have one host each. */
const FREE_NAME = /^HEADGATE_KEY_[A-Z0-9_]{1,100}$/;

/** The origins that each variable was used with, by its name. */
const KeyHosts = z.record(z.string(), z.array(z.string()).readonly());
type KeyHosts = z.infer<typeof KeyHosts>;

type Environment = Readonly<Record<string, string | undefined>>;
type Keys = Pick<Config, 'models' | 'channels' | 'oidc' | 'judge' | 'tools'>;

/** One key that the configuration sends, or signs with, and the server it is for. */
interface KeyUse {
  /** The setting that names the key. */
  path: string;
  /** The variable that holds it, or the key itself. */
  key: { env: string } | { text: string };
  origin: string;
  /** The servers that the variable's name stands for, if any. */
  usualOrigins: readonly string[];
}

export interface KeyHostBindings {
  /** Problems of a change over the wire that would send a key to another server than the one it is configured for. */
  check(next: Keys, change: { before: Keys | undefined; typed: ReadonlySet<string> }): ConfigIssue[];
  /** Binds the variables of a configuration in force to the hosts they are used with. */
  remember(config: Keys): Promise<void>;
}

interface KeyHostsDeps {
  home: string;
  /** As the operator wrote it; it may bind a variable to another host than before. */
  config: Keys;
  environment: Environment;
  clock: Clock;
  log: Log;
}

/**
 * Binds keys to hosts: `<home>/key-hosts.json` records the origins that a variable was used with, even after its entry is
 * removed from config.json. A change over the wire can then not send a key to another host, nor any other variable of the
 * daemon anywhere. Editing config.json by hand is not limited.
 */
export async function openKeyHosts({ home, config, environment, clock, log }: KeyHostsDeps): Promise<KeyHostBindings> {
  const parse = (value: unknown) => KeyHosts.parse(value);
  const document = new Low<KeyHosts>(jsonDocument({ path: path.join(home, 'key-hosts.json'), parse, clock, log }), {});
  await document.read();

  const remember = async (hosts: ReadonlyMap<string, readonly string[]>) => {
    const known = new Map(Object.entries(document.data));
    const isNew = [...hosts].some(([name, origins]) => origins.join() !== known.get(name)?.join());
    if (!isNew) return;
    document.data = Object.fromEntries([...known, ...[...hosts].map(([name, origins]) => [name, origins] as const)]);
    await document.write();
  };
  await remember(hostsOf(config, environment));
  return {
    check(next, { before, typed }) {
      const used = before === undefined ? [] : keyUsesOf(before, environment);
      const known = new Map(Object.entries(document.data));
      return keyUsesOf(next, environment).flatMap((use) => {
        if (used.some((other) => isSameKey(other, use) && other.origin === use.origin)) return [];
        const message = problemOf(use, { used, known, typed });
        return message === undefined ? [] : [{ path: use.path, message }];
      });
    },
    async remember(config) {
      const hosts = hostsOf(config, environment);
      const known = new Map(Object.entries(document.data));
      await remember(new Map([...hosts].map(([name, origins]) => [name, union(known.get(name), origins)])));
    },
  };
}

/** Keys of models, the judge, channels, the login provider and the search service, with the origins that they are sent to. */
function keyUsesOf({ models = {}, channels, oidc, judge, tools }: Keys, environment: Environment): KeyUse[] {
  const own = ownJudge(judge);
  const known = [
    ...Object.entries(models).map(([alias, model]) => [`models.${alias}`, model] as const),
    ...(own ? [['judge', own] as const] : []),
  ];
  const ofModels = known.flatMap(([place, model]) => {
    const usual = usualKeyOf(model, { environment });
    return useOf({
      path: `${place}.apiKey`,
      text: model.apiKey,
      env: model.apiKeyEnv,
      url: baseUrlOf(model, { environment }),
      usual: usualOriginsOf(model.apiKeyEnv, usual),
    });
  });
  const ofWebhooks = Object.entries(channels.webhook).flatMap(([name, { url, secret, secretEnv }]) =>
    useOf({ path: `channels.webhook.${name}.secret`, text: secret, env: secretEnv, url, usual: undefined }),
  );
  const ofTopics = Object.entries(channels.ntfy).flatMap(([name, { url, token, tokenEnv }]) =>
    useOf({ path: `channels.ntfy.${name}.token`, text: token, env: tokenEnv, url, usual: undefined }),
  );
  const { telegram: bot, whatsapp } = channels;
  const ofChats = [
    { path: 'channels.telegram.botToken', text: bot?.botToken, env: bot?.botTokenEnv, url: bot?.apiRoot },
    { path: 'channels.whatsapp.accessToken', text: undefined, env: whatsapp?.accessTokenEnv, url: whatsapp?.apiRoot },
  ].flatMap(({ url, ...use }) => (url === undefined ? [] : useOf({ ...use, url, usual: undefined })));
  const { issuer, clientSecret: text, clientSecretEnv: env } = oidc;
  const ofProvider =
    issuer === undefined ? [] : useOf({ path: 'oidc.clientSecret', text, env, url: issuer, usual: undefined });
  const search = searchKeyOf(tools.search);
  const ofSearch = search === undefined ? [] : useOf({ path: 'tools.search.apiKey', ...search });
  return [...ofModels, ...ofWebhooks, ...ofTopics, ...ofChats, ...ofProvider, ...ofSearch];
}

interface Source {
  path: string;
  text: string | undefined;
  env: string | undefined;
  url: string;
  usual: readonly string[] | undefined;
}

function useOf({ path: place, text, env, url, usual = [] }: Source): KeyUse[] {
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  if (text !== undefined) return [{ path: place, key: { text }, origin, usualOrigins: [] }];
  if (env === undefined) return [];
  return [{ path: `${place}Env`, key: { env }, origin, usualOrigins: usual }];
}

const usualOriginsOf = (env: string | undefined, usual: ReturnType<typeof usualKeyOf>): string[] =>
  usual !== undefined && env === usual.keyName && URL.canParse(usual.baseUrl) ? [new URL(usual.baseUrl).origin] : [];

interface Known {
  used: readonly KeyUse[];
  known: ReadonlyMap<string, readonly string[]>;
  typed: ReadonlySet<string>;
}

/** Undefined if the key may be sent there. */
function problemOf({ key, origin, usualOrigins }: KeyUse, { used, known, typed }: Known): string | undefined {
  if ('text' in key) {
    if (typed.has(key.text)) return undefined;
    const elsewhere = used.find((other) => 'text' in other.key && other.key.text === key.text);
    return `the stored key is for ${elsewhere?.origin ?? 'another host'}; enter the key again to use it with ${origin}`;
  }
  if (usualOrigins.includes(origin)) return undefined;
  const bound = known.get(key.env);
  if (!FREE_NAME.test(key.env)) {
    return `${key.env} cannot be used with ${origin} by a change over the wire; name a variable that begins with HEADGATE_KEY_, or edit config.json by hand`;
  }
  if (bound === undefined || bound.includes(origin)) return undefined;
  return `${key.env} is the key of ${bound.join(', ')}; to use it with ${origin}, edit config.json by hand`;
}

const isSameKey = (a: KeyUse, b: KeyUse): boolean => JSON.stringify(a.key) === JSON.stringify(b.key);

function hostsOf(config: Keys, environment: Environment): Map<string, readonly string[]> {
  const hosts = new Map<string, readonly string[]>();
  for (const { key, origin } of keyUsesOf(config, environment))
    if ('env' in key) hosts.set(key.env, union(hosts.get(key.env), [origin]));
  return hosts;
}

const union = (some: readonly string[] = [], others: readonly string[]): string[] => [...new Set([...some, ...others])];
