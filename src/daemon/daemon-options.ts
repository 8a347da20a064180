import type { Notice } from '../../protocol/notice.ts';
import type { Clock } from '../clock.ts';
import type { SqliteStore } from '../gateway/store/sqlite-store.ts';
import type { StaticText } from '../http/encoding.ts';
import type { Ids } from '../ids.ts';
import type { Log, LogLevel } from '../log.ts';
import type { LogRing } from '../log-ring.ts';
import type { Config } from './config/config.ts';

/** Everything a daemon is made of that is not its own code: what the command line, the environment and the build say. */
export interface DaemonOptions {
  /** Absolute; exists with mode 0700. */
  home: string;
  host: string;
  /** 0: any free one. */
  port: number;
  workdir?: string;
  model?: string;
  authEnabled: boolean;
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
  userHome: string;
  /** The user's number; undefined where the system has none. */
  uid: number | undefined;
  version: string;
  /** Of this machine, an IANA name. */
  hostTimeZone: string;
  /** Names this run of the machine. */
  bootId: string;
  assets: Assets;
  log: Log;
  setLogLevel(level: LogLevel): void;
  /** What `log` has written lately. */
  logRing: LogRing;
  clock: Clock;
  ids: Ids;
  /** Only for parts that stand in for ours in tests. */
  replace?: Replacements;
}

/** What the build made. */
export interface Assets {
  pageHtml: StaticText;
  /** Of what the page is made of. */
  licenses: StaticText;
  scriptSources: string[];
  styleSources: string[];
  openapi: StaticText;
  searchWorkerUrl: URL;
  checkpointWorkerUrl: URL;
}

export interface Replacements {
  store?(store: SqliteStore): SqliteStore;
}

/** A daemon that answers. */
export interface Daemon {
  url: string;
  port: number;
  model: { alias: string; provider: string; modelId: string };
  /** Where workstreams work when nothing else is said. */
  workdir: string;
  notices: Notice[];
  notSandboxed: string | undefined;
  loginLink(): Promise<{ url: string; expiresAtMs: number }>;
  /** Says good-bye, lets writes finish and lets go of the home. Idempotent. */
  shutdown(reason: string): Promise<void>;
}
