import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ConnectionStatus } from '../../../protocol/client/ws-client.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { Confirmation } from './accounts/confirmation.ts';
import { createHeldRights, type HeldRights } from './accounts/held-rights.ts';
import { OwnLogin } from './accounts/own-login.ts';
import type { Owners } from './accounts/owners.ts';
import type { Who } from './accounts/who.ts';
import type { Actions } from './actions.ts';
import type { Appearance } from './appearance.ts';
import { toBanners } from './banners.ts';
import type { Browser } from './browser.ts';
import type { ChipActions } from './chips.ts';
import { Arrival } from './consents/arrival.ts';
import { createDesk } from './create-desk.ts';
import type { CronJobs } from './cron/cron-jobs.ts';
import type { Files } from './files.ts';
import type { Guide } from './first-run/guide.ts';
import type { Inbox } from './inbox/inbox.ts';
import type { OtherCount } from './inbox/other-count.ts';
import {
  type AuthStatus,
  type Credential,
  type FirstUser,
  isLoggedOut,
  isOther,
  isReplaced,
  NOT_LOGGED_IN,
  type PasswordChange,
} from './login.ts';
import type { ModelChoices } from './model-choices.ts';
import type { Nodes } from './nodes/nodes.ts';
import { Kept } from './rail/kept.ts';
import type { RailParts } from './rail/rail-parts.ts';
import type { PageClient } from './reading/reading.ts';
import type { Workstreams } from './workstreams.ts';

/** The parts of a logged-in page. */
export interface Desk {
  client: PageClient;
  workstreams: Workstreams;
  rail: RailParts;
  actions: Actions;
  inbox: Inbox;
  others: Pick<OtherCount, 'read'>;
  waiting: ReadonlySignal<number>;
  jobs: CronJobs;
  nodes: Nodes;
  owners: Owners;
  now(): number;
  newKey(): string;
  /** As in the page. */
  who: ReadonlySignal<Who | undefined>;
  confirmation: Confirmation;
  chips: ChipActions;
  models: ModelChoices;
  guide: Guide;
  files: Pick<Files, 'importConversation'>;
}

export type Phase =
  | { kind: 'starting' }
  | { kind: 'login'; problem: string | undefined }
  | { kind: 'desk'; desk: Desk };

/** The state of the whole page: login, connection and health of the daemon. */
export class App {
  readonly #browser: Browser;
  readonly #kept: Kept;
  readonly appearance: Appearance;
  readonly now: () => number;
  readonly timeZone: string;
  readonly arrival: Arrival;
  readonly #ownLogin: OwnLogin;
  #entries = 0;
  /** The version of the daemon that served this page, from the first hello. */
  #ownVersion: string | undefined;
  /** Who was logged in last. */
  #lastUserId: string | undefined;
  readonly phase: Signal<Phase> = signal({ kind: 'starting' });
  readonly connection: Signal<ConnectionStatus> = signal({ kind: 'connecting' });
  /** True from the loss of the connection until it is back, also during reconnection attempts. */
  readonly lost = signal(false);
  /** The daemon has another version than the one that served this page. */
  readonly isOutdated = signal(false);
  readonly health = signal<HealthSummary | undefined>(undefined);
  readonly auth = signal<AuthStatus>(NOT_LOGGED_IN);
  /** Undefined until the connection is open. A change of rights ends the connection, so that this is read again. */
  readonly who = signal<Who | undefined>(undefined);
  readonly rights: HeldRights = createHeldRights({ auth: this.auth, who: this.who });
  readonly banners = computed(() =>
    toBanners({
      failedLogout: this.#ownLogin.failed.value,
      connection: this.connection.value,
      lost: this.lost.value,
      isOutdated: this.isOutdated.value,
      consent: this.arrival.consent.value,
      health: this.health.value,
      autoApprove: this.#front()?.conversation.value?.autoApprove,
      nowMs: this.now(),
      timeZone: this.timeZone,
    }),
  );
  /** How much waits for this person. */
  readonly waiting = computed(() => (this.phase.value.kind === 'desk' ? this.phase.value.desk.waiting.value : 0));

  constructor(browser: Browser) {
    this.#browser = browser;
    this.#kept = new Kept(browser.memory);
    this.appearance = browser.appearance;
    this.now = browser.now;
    this.timeZone = browser.timeZone;
    this.arrival = new Arrival(browser);
    this.#ownLogin = new OwnLogin(browser.login);
  }

  /** Called when the page loads, and again when a login link is opened in its tab. */
  async start(): Promise<void> {
    const { code, problem } = this.arrival.read();
    if (code !== undefined) await this.logIn({ code });
    else await this.#enter(problem);
  }

  async logIn(credential: Credential): Promise<void> {
    await this.#enterBy(() => this.#browser.login.login(credential));
  }

  /** Creates the first user, who is then logged in. */
  async setUp(first: FirstUser): Promise<void> {
    await this.#enterBy(() => this.#browser.login.setUp(first));
  }

  /** Returns an error message, or undefined on success. */
  changePassword(change: PasswordChange): Promise<string | undefined> {
    return this.#ownLogin.changePassword(change);
  }

  /** Whether the roles of the person grant a permission. */
  may(permission: Permission): boolean {
    return this.who.value?.permissions.includes(permission) ?? false;
  }

  /** If it fails, the page stays as it is and says so: the cookie still works. */
  async logOut(): Promise<void> {
    if (!(await this.#ownLogin.end())) return;
    this.#kept.clear();
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

  async #enterBy(logIn: () => Promise<void>): Promise<void> {
    // The earlier problem disappears first: a screen reader then announces the next one even if it is the same.
    if (this.phase.peek().kind === 'login') this.phase.value = { kind: 'login', problem: undefined };
    try {
      await logIn();
      await this.#enter('The browser did not keep the login cookie.');
    } catch (error) {
      // An expired link does not matter if the browser is already logged in.
      await this.#enter(wordsOf(error));
    }
  }

  async #enter(problem: string | undefined): Promise<void> {
    const entry = ++this.#entries;
    const auth = await this.#browser.login.status().catch(() => undefined); // reported below
    if (entry !== this.#entries) return; // a later login replaces this status
    if (!auth) return this.#leave('Headgate does not answer. Is it running?');
    this.auth.value = auth;
    if (auth.authEnabled && !auth.authenticated) return this.#leave(problem);
    if (isOther(auth, this.#lastUserId)) {
      this.#kept.clear(); // it is of somebody else, and so is the open connection
      this.#leave(undefined);
    }
    this.#lastUserId = auth.userId;
    if (this.phase.peek().kind !== 'desk') this.#openDesk();
  }

  #openDesk(): void {
    const connection = this.#browser.openClient({
      onStatus: (status) => this.#onStatus(status),
      onGap: () => {
        this.#readHealth();
        this.#refreshParts();
      },
    });
    const confirmation = new Confirmation(connection);
    const client = confirmation.guarded(
      connection,
      computed(() => this.connection.value.kind === 'open'),
    );
    const { rights, who } = this;
    const desk = createDesk({ browser: this.#browser, kept: this.#kept, client, confirmation, rights, who });
    desk.workstreams.shown.value = this.arrival.place;
    this.phase.value = { kind: 'desk', desk };
    client.on('health', this.#keepHealth);
    client.connect().catch(() => undefined); // onStatus reports a refused or closed connection
  }

  #leave(problem: string | undefined): void {
    const phase = this.phase.peek();
    this.phase.value = { kind: 'login', problem };
    if (phase.kind !== 'desk') return;
    this.who.value = undefined;
    phase.desk.confirmation.cancel();
    phase.desk.client.close();
    phase.desk.workstreams.dispose();
    void this.#readStatus();
  }

  /** The login card shows how to log in now: the first user may have been created since the last login. */
  async #readStatus(): Promise<void> {
    const auth = await this.#browser.login.status().catch(() => undefined); // no answer: the card stays as it is
    if (auth !== undefined && this.phase.peek().kind === 'login') this.auth.value = auth;
  }

  #onStatus(status: ConnectionStatus): void {
    this.connection.value = status;
    if (status.kind === 'open' || status.kind === 'waiting') this.lost.value = status.kind === 'waiting';
    if (status.kind === 'open') this.#onOpen(status.hello.server.version);
    else if (status.kind === 'waiting') void this.#checkLogin(status.error);
    else if (status.kind === 'closed' && isLoggedOut(status.error)) this.#leave('You have been logged out.');
  }

  #onOpen(version: string): void {
    this.#ownVersion ??= version;
    this.isOutdated.value = version !== this.#ownVersion;
    this.#readWho();
    this.#readHealth();
    this.#desk()?.workstreams.refreshLater();
    this.#refreshParts();
  }

  #refreshParts(): void {
    const desk = this.#desk();
    desk?.jobs.refreshLater();
    desk?.nodes.refreshLater();
    void desk?.inbox.read();
    void desk?.others.read();
  }

  /** Browsers do not report why an upgrade was refused, so check whether the login has ended. */
  async #checkLogin(error: Error): Promise<void> {
    const desk = this.#desk();
    // A new password ends the login that it was changed with. The answer, which may arrive later, carries the next one.
    await this.#ownLogin.afterChange();
    const auth = await this.#browser.login.status().catch(() => undefined); // no answer: the client keeps trying
    if (auth === undefined || this.#desk() !== desk) return; // another login has replaced this one
    this.auth.value = auth;
    if (auth.authEnabled && !auth.authenticated) this.#leave('Your login has ended.');
    else if (isOther(auth, this.#lastUserId)) await this.#enter(undefined);
    else if (isReplaced(error)) desk?.client.retryNow();
  }

  #readWho(): void {
    const desk = this.#desk();
    desk?.client.call('auth.whoami', {}).then(
      (who) => {
        if (this.#desk() !== desk) return;
        if (isOther(who, this.#lastUserId)) return void this.#enter(undefined); // logged in in another tab
        this.who.value = who;
        this.auth.value = { ...this.auth.peek(), scopes: who.scopes }; // the status may be from before a change of rights
      },
      () => undefined, // a lost connection: the next one reads it
    );
  }

  #readHealth(): void {
    this.#desk()
      ?.client.call('health', {})
      .then(this.#keepHealth, () => undefined); // the next `health` event brings it
  }

  readonly #keepHealth = (health: HealthSummary): void => {
    this.health.value = health;
  };

  #desk(): Desk | undefined {
    const phase = this.phase.peek();
    return phase.kind === 'desk' ? phase.desk : undefined;
  }

  readonly #front = () =>
    this.phase.value.kind === 'desk' ? this.phase.value.desk.workstreams.front.value : undefined;
}
