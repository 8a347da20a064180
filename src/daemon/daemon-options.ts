import type { Notice } from '../../protocol/notice.ts';
import type { Program } from '../agent/process/programs.ts';
import type { Clock } from '../clock.ts';
import type { Overrides } from '../gateway/configuration/setting-rows.ts';
import type { DaemonStore } from '../gateway/store/daemon-store.ts';
import type { StaticText } from '../http/encoding.ts';
import type { SiteFiles } from '../http/site/site-files.ts';
import type { Ids } from '../ids.ts';
import type { Log, LogLevel } from '../log.ts';
import type { LogRing } from '../log-ring.ts';
import type { Config } from './config/config.ts';
import type { Handover } from './handover/handover.ts';

/** Everything a daemon gets from outside: from the command line, the environment and the build. */
export interface DaemonOptions {
  /** Absolute; exists with mode 0700. */
  home: string;
  host: string;
  /** 0: any free port. */
  port: number;
  /** A socket that listens there already. */
  descriptor?: number | undefined;
  workdir?: string;
  model?: string;
  /** The PostgreSQL database in place of a file of the home. */
  storeUrl?: string;
  /** Where the other daemons of the database reach this one, if not where it listens. */
  machineUrl?: string;
  /** What this machine has, for workstreams that need it. */
  machineLabels?: readonly string[];
  /** The NATS server through which the daemons of the database work together. */
  busUrl?: string;
  /** Waits while another daemon is active, instead of being refused. */
  standby?: Standby;
  /** Does work for the active daemon, instead of being refused. */
  worker?: Pick<Standby, 'signal' | 'onWaiting'>;
  /** The daemon cannot go on, or hands over: the caller shuts it down. */
  onOver(why: DaemonEnd): void;
  authEnabled: boolean;
  /** Secrets that cannot be decrypted are replaced. */
  newSecrets: boolean;
  config: Config;
  overrides: Overrides;
  environment: Readonly<Record<string, string | undefined>>;
  userHome: string;
  /** The user's id; undefined if the system has none. */
  uid: number | undefined;
  version: string;
  /** Of this machine, an IANA name. */
  hostTimeZone: string;
  /** An id of this boot of the machine. */
  bootId: string;
  assets: Assets;
  log: Log;
  setLogLevel(level: LogLevel): void;
  /** The latest lines of `log`. */
  logRing: LogRing;
  /** Lets another process take over. */
  restart: Handover['restart'];
  clock: Clock;
  ids: Ids;
  /** Replacement parts for tests. */
  replace?: Replacements;
}

/**
 * `replaced`: another daemon has taken over. `forgotten`: the database lacks changes that it had confirmed. `drained`: somebody
 * asked this one to hand over.
 */
export type DaemonEnd = 'replaced' | 'forgotten' | 'drained';

export interface Standby {
  /** Aborts when the process is to end. */
  signal: AbortSignal;
  /** The epoch in which this machine handed over: another one may take over first. */
  handedOver?: number;
  /** It listens now, and waits. */
  onWaiting(standby: { port: number; active: { nodeId: string; url: string | undefined } | undefined }): Promise<void>;
}

/** The files of the build. */
export interface Assets {
  pageHtml: StaticText;
  /** The scripts that the page loads later, by their names below /static. */
  pageParts: ReadonlyMap<string, StaticText>;
  /** Licenses of the page's dependencies. */
  licenses: StaticText;
  scriptSources: string[];
  styleSources: string[];
  openapi: StaticText;
  siteFiles: SiteFiles;
  pageWorkerUrl: URL;
  searchWorkerUrl: URL;
  pdfWorkerUrl: URL;
  snapshotWorkerUrl: URL;
  outputWorkerUrl: URL;
  checkpointWorkerUrl: URL;
  passwordWorkerUrl: URL;
}

export interface Replacements {
  store?(store: DaemonStore): DaemonStore;
  /** Bubblewrap, for daemons without a sandbox. */
  bwrap?: Program;
}

/** A daemon whose place another one can take. */
export interface SharedDaemon {
  /** Of its lease. */
  epoch: number;
  /** Hands over, if a standby is there. */
  drain(): Promise<void>;
}

/** A running daemon. */
export interface Daemon {
  url: string;
  port: number;
  model: { alias: string; provider: string; modelId: string };
  /** The default working directory of workstreams. */
  workdir: string;
  notices: Notice[];
  notSandboxed: string | undefined;
  /** The descriptor of the listening socket. */
  descriptor(): number;
  /** Absent: no other daemon can use the store. */
  shared?: SharedDaemon;
  loginLink(): Promise<{ url: string; expiresAtMs: number }>;
  /**
   * Notifies clients, finishes writes and unlocks the home. `lastAnswers`: answers requests that were accepted in the last
   * moment. Idempotent.
   */
  shutdown(reason: string, options?: { lastAnswers?: boolean }): Promise<void>;
}
