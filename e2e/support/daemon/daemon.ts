import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHttpClient, type HttpClient } from '../../../protocol/client/http-client.ts';
import { createGatewayClient, type GatewayClient } from '../../../protocol/client/ws-client.ts';
import { readBody } from '../clients/read-body.ts';
import { openSse, type SseOptions, type SseReader } from '../clients/sse.ts';
import { within } from '../deadline.ts';
import { type DaemonProcess, type Exit, spawnHeadgate } from './daemon-process.ts';

export interface StartOptions {
  /** More flags of `headgate start`. */
  args?: readonly string[];
  /** The environment, in addition to PATH and similar variables. */
  env?: Record<string, string>;
  /** Default: a new home, removed at the end. */
  home?: string;
  /** The contents of config.json at the start. */
  config?: object;
  /** Base URL of a scripted model. Default: the demo model. */
  model?: string;
  /** The file to run, for tests with a changed daemon. */
  entry?: string | URL;
  /** Its working directory. Default: the repository. */
  cwd?: string;
  /** Another user, who must own the home; only root can choose it. */
  uid?: number;
  /** See `spawnHeadgate`. */
  descriptor?: number;
  through?: readonly string[] | undefined;
}

/** A daemon in a separate process, as users run it. `restart` keeps its address but changes its pid. */
export interface DaemonUnderTest extends AsyncDisposable {
  readonly url: string;
  /** `ws://…`, for sockets. */
  readonly wsUrl: string;
  readonly port: number;
  readonly pid: number;
  readonly home: string;
  /** The operator token. */
  readonly token: string;
  /** The typed HTTP client, as the operator. */
  readonly http: HttpClient;
  /** A plain request as the operator: `fetch('/health')`. Headers given here take precedence. */
  fetch(route: string, init?: RequestInit): Promise<Response>;
  /** A JSON request as the operator; the answer's status and body (`readBody`). */
  post(route: string, body: unknown): Promise<JsonAnswer>;
  get(route: string): Promise<JsonAnswer>;
  /** A connected WebSocket client; closed with the daemon. */
  client(): Promise<GatewayClient>;
  /** An event stream as the operator: a path, or a workstream's id. */
  sse(route: string, options?: SseOptions): Promise<SseReader>;
  /** The output of the current process. */
  output(): { stdout: string; stderr: string };
  /** The login link of the banner. */
  loginLink(): string;
  /** Sends SIGKILL and waits until the process has ended. Rejects if it had already ended, because it should not have. */
  kill9(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  /** Resolves when the current process ends on its own. */
  exited(): Promise<Exit>;
  /** Restarts on the same home and port; a running process is stopped first. */
  restart(options?: Pick<StartOptions, 'args' | 'env' | 'entry'>): Promise<void>;
}

export interface JsonAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the wire carries; tests compare it.
  body: any;
  headers: Headers;
}

/** Starts a daemon on a free port and waits until it answers: `await using daemon = await startDaemon()`. */
export async function startDaemon(options: StartOptions = {}): Promise<DaemonUnderTest> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-e2e-'));
  const home = options.home ?? path.join(folder, 'home');
  if (options.config) await writeConfig(home, options.config);
  const state = await launch(options, { home, port: 0 });
  const clients = new Set<GatewayClient>();
  const authorized = (init: RequestInit = {}): RequestInit => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${state.token}`);
    return { ...init, headers };
  };
  const request = (route: string, init?: RequestInit) => fetch(new URL(route, state.url), authorized(init));

  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> => {
    const { child } = state;
    child.kill(signal);
    return within(child.exited, 60_000, () => `an end after ${signal}; stderr: ${child.stderr()}`);
  };

  return {
    get url() {
      return state.url;
    },
    get wsUrl() {
      return state.url.replace('http', 'ws');
    },
    get port() {
      return Number(new URL(state.url).port);
    },
    get pid() {
      return state.child.pid;
    },
    home,
    token: state.token,
    get http() {
      return createHttpClient({ baseUrl: state.url, token: state.token });
    },
    fetch: request,
    post: async (route, body) => toJsonAnswer(await request(route, jsonInit(body))),
    get: async (route) => toJsonAnswer(await request(route)),
    async client() {
      const client = createGatewayClient({
        url: state.url.replace('http', 'ws'),
        token: state.token,
        client: { name: 'e2e', version: '1', mode: 'test' },
      });
      clients.add(client);
      await client.connect();
      return client;
    },
    sse(route, sseOptions) {
      const target = route.startsWith('/') ? route : `/v1/api/events?ws_id=${route}`;
      return openSse(new URL(target, state.url), { token: state.token, ...sseOptions });
    },
    output: () => ({ stdout: state.child.stdout(), stderr: state.child.stderr() }),
    loginLink: () => /http\S+#login=\S+/.exec(state.child.stdout())?.[0] ?? '',
    async kill9() {
      checkKilled(await stop('SIGKILL'), state.child);
    },
    signal: (signal) => state.child.kill(signal),
    stop,
    exited: () => state.child.exited,
    async restart(changes = {}) {
      const port = Number(new URL(state.url).port);
      await stop();
      Object.assign(state, await launch({ ...options, ...changes }, { home, port }));
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      // Only a process that ends on its own writes its coverage.
      await stop(process.env.E2E_SOURCES === '1' ? 'SIGTERM' : 'SIGKILL');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function checkKilled({ code, signal }: Exit, { stderr }: DaemonProcess): void {
  if (signal !== 'SIGKILL') throw new Error(`the daemon had already ended with ${code ?? signal}; stderr: ${stderr()}`);
}

async function writeConfig(home: string, config: object): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(path.join(home, 'config.json'), JSON.stringify(config));
}

/** Runs a command of the CLI to its end. */
export async function runHeadgate(
  args: readonly string[],
  env: Record<string, string> = {},
  { input }: { input?: string } = {},
) {
  const child = await spawnHeadgate({ args, env, input });
  const { code } = await within(child.exited, 60_000, () => `an end of: headgate ${args.join(' ')}`);
  return { code, stdout: child.stdout(), stderr: child.stderr() };
}

const BANNER = /^Headgate .*\n\n[\s\S]*\n\n$/m;

interface Launched {
  child: DaemonProcess;
  url: string;
  token: string;
}

async function launch(options: StartOptions, { home, port }: { home: string; port: number }): Promise<Launched> {
  const { args = [], env, model, entry, cwd, uid, descriptor, through } = options;
  const child = await spawnHeadgate({
    ...{ entry, cwd, uid, descriptor, through },
    args: ['start', '--port', String(port), '--home', home, ...args],
    // Without a model the daemon would look for servers on this machine.
    env: {
      HOME: path.dirname(home),
      ...(model === undefined ? { HEADGATE_MODEL: 'demo' } : { OPENAI_BASE_URL: model }),
      ...env,
    },
  });
  await child.printed(BANNER);
  const { url } = JSON.parse(await readFile(path.join(home, 'daemon.json'), 'utf8'));
  return { child, url, token: (await readFile(path.join(home, 'token'), 'utf8')).trim() };
}

function jsonInit(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

async function toJsonAnswer(response: Response): Promise<JsonAnswer> {
  return { status: response.status, body: await readBody(response), headers: response.headers };
}
