import { computed, type Signal, signal } from '@preact/signals';
import { RequestError } from '../../../protocol/client/request-error.ts';
import type { ConnectionStatus, GatewayClient, GatewayClientOptions } from '../../../protocol/client/ws-client.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Actions, createActions } from './actions.ts';
import { toBanners } from './banners.ts';
import { type ChipActions, createChips } from './chips.ts';
import { CronJobs } from './cron/cron-jobs.ts';
import { Drafts } from './drafts.ts';
import type { Files } from './files.ts';
import { type AuthStatus, type Credential, findLoginCode, type Login } from './login.ts';
import { createModelChoices, type ModelChoices } from './model-choices.ts';
import { Nodes } from './nodes/nodes.ts';
import { tabState } from './tab.ts';
import type { ThemeChoice } from './theme.ts';
import { UsageReport } from './usage/usage-report.ts';
import { Workstreams } from './workstreams.ts';

/** The browser features that the page uses; tests pass their own. */
export interface Browser {
  login: Login;
  files: Files;
  openClient(options: Required<Pick<GatewayClientOptions, 'onStatus' | 'onGap'>>): GatewayClient;
  schedule(run: () => void): void;
  isVisible(): boolean;
  /** Storage of this browser tab that survives a reload. */
  memory: Pick<Storage, 'getItem' | 'setItem'>;
  theme: ThemeChoice;
  newKey(): string;
  /** Milliseconds since 1970. */
  now(): number;
  /** IANA time zone of the browser. */
  timeZone: string;
  /** Reads and removes the part of the address after `#`. */
  fragment: { read(): string; clear(): void };
}

/** The parts of a logged-in page. */
export interface Desk {
  client: GatewayClient;
  workstreams: Workstreams;
  actions: Actions;
  jobs: CronJobs;
  nodes: Nodes;
  usage: UsageReport;
  chips: ChipActions;
  models: ModelChoices;
  files: Pick<Files, 'importConversation'>;
}

export type Phase =
  | { kind: 'starting' }
  | { kind: 'login'; problem: string | undefined }
  | { kind: 'desk'; desk: Desk };

/** The state of the whole page: login, connection and health of the daemon. */
export class App {
  readonly #browser: Browser;
  readonly #drafts: Drafts;
  readonly theme: ThemeChoice;
  readonly now: () => number;
  readonly timeZone: string;
  #entries = 0;
  /** The version of the daemon that served this page, from the first hello. */
  #ownVersion: string | undefined;
  readonly phase: Signal<Phase> = signal({ kind: 'starting' });
  readonly connection: Signal<ConnectionStatus> = signal({ kind: 'connecting' });
  /** True from the loss of the connection until it is back, also during reconnection attempts. */
  readonly lost = signal(false);
  /** The daemon has another version than the one that served this page. */
  readonly isOutdated = signal(false);
  readonly health = signal<HealthSummary | undefined>(undefined);
  readonly auth = signal<AuthStatus>({ authenticated: false, authEnabled: true, scopes: [] });
  readonly canApprove = computed(() => !this.auth.value.authEnabled || this.auth.value.scopes.includes('approve'));
  readonly banners = computed(() =>
    toBanners({
      connection: this.connection.value,
      lost: this.lost.value,
      isOutdated: this.isOutdated.value,
      health: this.health.value,
      autoApprove: this.#front()?.conversation.value?.autoApprove,
      nowMs: this.now(),
      timeZone: this.timeZone,
    }),
  );
  /** Number of workstreams and pairing requests that wait for a decision. */
  readonly waiting = computed(() => {
    if (this.phase.value.kind !== 'desk') return 0;
    const { workstreams, nodes } = this.phase.value.desk;
    return workstreams.tabs.value.filter((tab) => tabState(tab) === 'attention').length + nodes.waiting.value;
  });

  constructor(browser: Browser) {
    this.#browser = browser;
    this.#drafts = new Drafts(browser.memory);
    this.theme = browser.theme;
    this.now = browser.now;
    this.timeZone = browser.timeZone;
  }

  /** Called when the page loads, and again when a login link is opened in its tab. */
  async start(): Promise<void> {
    const { fragment } = this.#browser;
    const code = findLoginCode(`#${fragment.read()}`);
    if (code !== undefined) fragment.clear();
    if (code !== undefined) await this.logIn({ code });
    else await this.#enter(undefined);
  }

  async logIn(credential: Credential): Promise<void> {
    try {
      await this.#browser.login.login(credential);
      await this.#enter('The browser did not keep the login cookie.');
    } catch (error) {
      // An expired link does not matter if the browser is already logged in.
      await this.#enter(wordsOf(error));
    }
  }

  async logOut(): Promise<void> {
    await this.#browser.login.logout();
    this.#drafts.clear();
    this.#leave(undefined);
  }

  /** Called when the page becomes visible or the network is back. Reconnects at once. */
  onVisible(): void {
    if (!this.#browser.isVisible()) return;
    const workstreams = this.#desk()?.workstreams;
    workstreams?.markRead();
    this.#desk()?.client.retryNow();
    if (this.connection.peek().kind === 'open') workstreams?.refreshLater();
  }

  async #enter(problem: string | undefined): Promise<void> {
    this.#entries += 1;
    const entry = this.#entries;
    const auth = await this.#browser.login.status().catch(() => undefined); // reported below
    if (entry !== this.#entries) return; // a later login replaces this status
    if (!auth) return this.#leave('Headgate does not answer. Is it running?');
    this.auth.value = auth;
    if (auth.authEnabled && !auth.authenticated) this.#leave(problem);
    else if (this.phase.peek().kind !== 'desk') this.#openDesk();
  }

  #openDesk(): void {
    const { schedule, isVisible, memory, newKey, openClient, files } = this.#browser;
    const client = openClient({
      onStatus: (status) => this.#onStatus(status),
      onGap: () => {
        this.#readHealth();
        this.#desk()?.jobs.refreshLater();
        this.#desk()?.nodes.refreshLater();
      },
    });
    const workstreams = new Workstreams({ client, schedule, isVisible, memory, drafts: this.#drafts });
    const jobs = new CronJobs({ client, newKey });
    const nodes = new Nodes({ client, mayDecide: () => this.canApprove.peek(), now: this.now });
    const usage = new UsageReport({ client, now: this.now });
    const actions = createActions({ client, workstreams, newKey });
    const chips = createChips({ files, newKey });
    const models = createModelChoices(client);
    const desk: Desk = { client, workstreams, actions, jobs, nodes, usage, chips, models, files };
    this.phase.value = { kind: 'desk', desk };
    client.on('health', (health) => {
      this.health.value = health;
    });
    client.connect().catch(() => undefined); // onStatus reports a refused or closed connection
  }

  #leave(problem: string | undefined): void {
    const phase = this.phase.peek();
    this.phase.value = { kind: 'login', problem };
    if (phase.kind !== 'desk') return;
    phase.desk.client.close();
    phase.desk.workstreams.dispose();
  }

  #onStatus(status: ConnectionStatus): void {
    this.connection.value = status;
    if (status.kind === 'open' || status.kind === 'waiting') this.lost.value = status.kind === 'waiting';
    if (status.kind === 'open') this.#onOpen(status.hello.server.version);
    else if (status.kind === 'waiting') this.#checkLogin();
    else if (status.kind === 'closed' && isLoggedOut(status.error)) this.#leave('You have been logged out.');
  }

  #onOpen(version: string): void {
    this.#ownVersion ??= version;
    this.isOutdated.value = version !== this.#ownVersion;
    this.#readHealth();
    this.#desk()?.workstreams.refreshLater();
    this.#desk()?.jobs.refreshLater();
    this.#desk()?.nodes.refreshLater();
  }

  /** Browsers do not report why an upgrade was refused, so check whether the login has ended. */
  #checkLogin(): void {
    const desk = this.#desk();
    this.#browser.login.status().then(
      (auth) => {
        if (this.#desk() !== desk) return; // another login has replaced this one
        this.auth.value = auth;
        if (auth.authEnabled && !auth.authenticated) this.#leave('Your login has ended.');
      },
      () => undefined, // the daemon does not answer: the client keeps trying
    );
  }

  #readHealth(): void {
    this.#desk()
      ?.client.call('health', {})
      .then(
        (health) => {
          this.health.value = health;
        },
        () => undefined, // the next `health` event brings it
      );
  }

  #desk(): Desk | undefined {
    const phase = this.phase.peek();
    return phase.kind === 'desk' ? phase.desk : undefined;
  }

  readonly #front = () =>
    this.phase.value.kind === 'desk' ? this.phase.value.desk.workstreams.front.value : undefined;
}

const isLoggedOut = (error: Error | undefined) =>
  error instanceof RequestError && (error.code === 'UNAUTHORIZED' || error.code === 'FORBIDDEN');
