import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { copyKeys } from '../e2e/cluster/copy-keys.ts';
import { type DaemonProcess, spawnHeadgate } from '../e2e/support/daemon/daemon-process.ts';
import type { storeLongConversation } from '../e2e/support/model/long-conversation.ts';
import { createHttpClient, type HttpClient } from '../protocol/client/http-client.ts';
import { startNats } from '../src/testing/nats-server.ts';
import { startPostgres } from '../src/testing/postgres-server.ts';
import { credentialOf, type LoadCaller } from './credential.ts';
import type { PASSWORD, seedAccounts } from './seed-accounts.ts';
import type { FIRST_PERSON, seedChats } from './seed-chats.ts';
import type { seedDatabase } from './seed-database.ts';
import type { seedJobs } from './seed-jobs.ts';
import { startTasks, type TaskProcess, type Tasks } from './task-process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A server in its own process. */
export interface Server {
  pid: number;
  port: number;
  /** Its output on stderr so far. */
  stderr(): string;
}

export interface Product extends Server {
  home: string;
  token: string;
  http: HttpClient;
}

export interface ProductOptions {
  /** Default: an empty home. */
  home?: string;
  /** Content of config.json. */
  config?: object;
  env?: Record<string, string>;
  /** It waits while another one is active. */
  isStandby?: boolean;
  /** It runs workstreams for the one beside it. */
  isWorker?: boolean;
  /** Another one over the same database; their secrets are the same. */
  beside?: Product;
}

/** Starts the processes of a row and stops all of them at the end. */
export interface Stage extends AsyncDisposable {
  /** Less load and fewer rounds, to check that everything works, not how fast it is. */
  readonly quick: boolean;
  /** What the load sends as its token to the running daemon of a home. */
  credentialOf(home: string): Promise<string>;
  /** Starts the product as installed; with the demo model unless `env` names another. */
  product(options?: ProductOptions): Promise<Product>;
  /** Starts `anchors/<name>.ts`. */
  anchor(name: string, env?: Record<string, string>): Promise<Server>;
  /** Starts `load/<name>.ts`. */
  load<T extends Tasks>(name: string): TaskProcess<T>;
  /** Creates a temporary folder. */
  folder(): Promise<string>;
  /** Starts a PostgreSQL server whose commits wait for the disk, and returns how to make an empty database there. */
  postgres(): Promise<() => Promise<string>>;
  /** Starts a NATS server and returns its address. */
  nats(): Promise<string>;
  readonly programs: Programs;
}

/** Copies of the programs, so that changes of the sources do not affect a run. */
export interface Programs {
  product: string;
  anchor(name: string): string;
  folder: string;
  /** Fill databases for this build, with its own schema. */
  seeds(): Promise<Seeds>;
}

export interface Seeds {
  accounts: typeof seedAccounts;
  /** Of every user. */
  password: typeof PASSWORD;
  jobs: typeof seedJobs;
  chats: typeof seedChats;
  /** Of the chats. */
  firstPerson: typeof FIRST_PERSON;
  database: typeof seedDatabase;
  conversation: typeof storeLongConversation;
}

async function seedsOf(checkout: string): Promise<Seeds> {
  const from = async (file: string) => import(pathToFileURL(path.join(checkout, file)).href);
  const [
    { seedAccounts, PASSWORD },
    { seedJobs },
    { seedChats, FIRST_PERSON },
    { seedDatabase },
    { storeLongConversation },
  ] = await Promise.all([
    from('bench/seed-accounts.ts'),
    from('bench/seed-jobs.ts'),
    from('bench/seed-chats.ts'),
    from('bench/seed-database.ts'),
    from('e2e/support/model/long-conversation.ts'),
  ]);
  return {
    accounts: seedAccounts,
    password: PASSWORD,
    jobs: seedJobs,
    chats: seedChats,
    firstPerson: FIRST_PERSON,
    database: seedDatabase,
    conversation: storeLongConversation,
  };
}

/**
 * Copies the build as in the package, and bundles the anchors like the product. `checkout`: another checkout, whose build
 * is measured as it is.
 */
export async function preparePrograms(checkout?: string): Promise<Programs & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-bench-'));
  const product = path.join(folder, 'product');
  if (checkout === undefined) {
    const build = await import('../scripts/build.js');
    await build.build({ ifStale: true });
  }
  for (const name of ['bin/headgate.js', 'package.json', 'dist']) {
    await cp(path.join(checkout ?? ROOT, name), path.join(product, name), { recursive: true });
  }
  await bundleAnchors(path.join(folder, 'anchors'));
  return {
    folder,
    seeds: () => seedsOf(checkout ?? ROOT),
    product: path.join(product, 'bin/headgate.js'),
    anchor: (name) => path.join(folder, 'anchors', `${name}.js`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function bundleAnchors(outdir: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['bench/anchors/*.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['pg-native'],
    outdir,
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
  });
  await writeFile(path.join(outdir, 'package.json'), '{"type":"module"}');
}

interface StageOptions {
  quick: boolean;
  /** Whose credential the load uses; default: the operator's. */
  caller?: LoadCaller;
}

export function createStage(programs: Programs, { quick, caller = 'operator' }: StageOptions): Stage {
  const stack = new AsyncDisposableStack();
  const folder = async () => {
    const made = await mkdtemp(path.join(programs.folder, 'stage-'));
    stack.defer(() => rm(made, { recursive: true, force: true, maxRetries: 5 }));
    return made;
  };
  const spawn = async (entry: string, args: string[], env: Record<string, string>) => {
    const child = await spawnHeadgate({ entry, args, env });
    stack.defer(() => kill(child));
    return child;
  };
  return {
    quick,
    programs,
    folder,
    async postgres() {
      const server = await startPostgres({ isSynced: true });
      stack.defer(() => server.close());
      return () => server.createDatabase();
    },
    async nats() {
      const server = await startNats();
      stack.defer(() => server.close());
      return server.url;
    },
    credentialOf: (home) => credentialOf(home, caller),
    async product({ home, config, env, isStandby, isWorker, beside } = {}) {
      const place = home ?? path.join(await folder(), 'home');
      await mkdir(place, { recursive: true, mode: 0o700 });
      if (beside) await copyKeys(beside.home, place);
      if (config) await writeFile(path.join(place, 'config.json'), JSON.stringify(config), { mode: 0o600 });
      const args = ['start', '--port', '0', '--home', place, ...(isStandby ? ['--standby'] : [])];
      if (isWorker) args.push('--worker');
      const child = await spawn(programs.product, args, productEnv(place, env));
      await child.printed(BANNER);
      const { url } = JSON.parse(await readFile(path.join(place, 'daemon.json'), 'utf8'));
      const token = await credentialOf(place, caller);
      const http = createHttpClient({ baseUrl: url, token });
      return { pid: child.pid, port: Number(new URL(url).port), stderr: child.stderr, home: place, token, http };
    },
    async anchor(name, env = {}) {
      const child = await spawn(programs.anchor(name), [], { PORT: '0', ...env });
      await child.printed(LISTENING);
      const [, port] = LISTENING.exec(child.stdout()) ?? [];
      return { pid: child.pid, port: Number(port), stderr: child.stderr };
    },
    load: (name) => stack.use(startTasks(new URL(`load/${name}.ts`, import.meta.url))),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Without a model, the daemon would look for model servers on this machine. */
export const productEnv = (home: string, env: Record<string, string> = { HEADGATE_MODEL: 'demo' }) => ({
  HOME: path.dirname(home),
  ...env,
});

export async function kill(child: DaemonProcess): Promise<void> {
  child.kill('SIGKILL');
  await child.exited;
}

const BANNER = /^Headgate .*\n\n[\s\S]*\n\n$/m;
const LISTENING = /^listening (\d+)$/m;
