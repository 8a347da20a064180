import type { Approval, CallDecisions } from '../../protocol/methods/approval.ts';
import { DAEMON } from '../../src/gateway/sharing/perception.ts';
import type { Random } from '../checker/random.ts';
import { isOf } from './coordinators/child-replies.ts';
import { answerChild, isAnyBusy } from './coordinators/tree.ts';
import { nothingSent } from './extension.ts';
import { ALIASES, type Alias } from './model-servers.ts';
import type { openSimMachine, SimSurroundings } from './sim-machine.ts';
import type { Witness } from './simulate.ts';
import { storedConversation } from './stored-cuts.ts';
import type { SimImage } from './unreadable-images.ts';

type Machine = Awaited<ReturnType<typeof openSimMachine>>;

interface TalkOptions {
  machine: Machine;
  /** Another machine, with a home of its own. */
  openMachine(): Promise<Machine>;
  surroundings: SimSurroundings;
  random: Random;
  witness: Witness;
  wsId: string;
}

/** Of real time. */
const MOST_MS = 60_000;
/** After so many turns of the event loop, so much time goes by in the simulation: a coordinator waits no longer than it says. */
const TURNS_BEFORE_TIME = 500;
const TIME_MS = 100;

interface Settling {
  withChildren?: boolean;
  orWhen?(): boolean;
}
const NEVER = () => false;

/** A conversation as its person has it. */
export class Talk {
  machine: Machine;
  readonly #openMachine: () => Promise<Machine>;
  readonly surroundings: SimSurroundings;
  readonly witness: Witness;
  readonly #random: Random;
  wsId: string;
  /** A person stopped the run, or its model failed on purpose. */
  isStopped = false;
  /** Messages that the model is to get once, and those that it is never to get. */
  readonly expected: string[] = [];
  readonly unexpected: string[] = [];
  /** Every image that was uploaded. */
  readonly images: SimImage[] = [];
  readonly #ended = new Set<string>();
  #messages = 0;
  #calls = 0;

  constructor({ machine, openMachine, surroundings, random, witness, wsId }: TalkOptions) {
    this.machine = machine;
    this.#openMachine = openMachine;
    this.surroundings = surroundings;
    this.#random = random;
    this.witness = witness;
    this.wsId = wsId;
    this.#watch();
  }

  /** The servers see the requests of this conversation from now on. */
  #watch(): void {
    const { machine, wsId } = this;
    this.witness.prefix.watch({ ...storedConversation({ dir: machine.dir, wsId }), owns: ({ name }) => isOf(0, name) });
  }

  nextMessage(): string {
    this.#messages += 1;
    return `message ${this.#messages}`;
  }

  /** One that no message has. */
  nextNumber(): number {
    this.#messages += 1;
    return this.#messages;
  }

  /** Some servers begin anew with every answer. */
  nextCallId(): string {
    this.#calls += 1;
    return this.#random.chance(0.2) ? `call_${this.#calls % 3}` : `call_x${this.#calls}`;
  }

  /** How many cuts were stored that change what models read of earlier messages. */
  async cuts(): Promise<number> {
    const rows = this.machine.store.db
      .selectFrom('cuts')
      .select('n')
      .where('ws_id', '=', this.wsId)
      .where('kind', '!=', 'rewind');
    return (await rows.execute()).length;
  }

  /** Sends a message and lives through its run. */
  async send(message: string, attachmentIds: string[] = []): Promise<void> {
    this.isStopped = false;
    const { wsId } = this;
    await this.machine.call('workstream.send', { wsId, message, attachmentIds });
    await this.settle();
    await this.checkEnd();
  }

  /** Its run counts as cancelled. */
  takenBack(runId: string): void {
    this.#ended.add(runId);
  }

  /** Every run that nobody stopped ends well. */
  async checkEnd(): Promise<void> {
    const { db } = this.machine.store;
    const runs = await db
      .selectFrom('runs')
      .select(['run_id', 'status', 'error'])
      .where('ws_id', '=', this.wsId)
      .execute();
    const ended = runs.filter(({ run_id }) => !this.#ended.has(run_id));
    for (const { run_id, status, error } of ended) {
      this.#ended.add(run_id);
      if (this.isStopped || status === 'ok' || status === 'incomplete') continue;
      this.witness.violate(`a run ended with ${status}: ${error}`);
    }
  }

  async command(command: string): Promise<void> {
    await this.machine.call('workstream.command', { wsId: this.wsId, command });
    await this.settle();
  }

  async update(change: object): Promise<void> {
    await this.machine.call('workstream.update', { wsId: this.wsId, ...change });
  }

  /** The model of the next run. */
  async alias(): Promise<Alias> {
    const { snapshot } = await this.machine.call('workstream.get', { wsId: this.wsId });
    return ALIASES.find((alias) => alias === snapshot.workstream.modelAlias) ?? 'opus';
  }

  async upload(count: number, kind: 'image' | 'text'): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      this.#messages += 1;
      const text = `content ${this.#messages}`;
      const content = kind === 'image' ? Buffer.concat([PNG, Buffer.from(text)]) : Buffer.from(text);
      const fileName = kind === 'image' ? `${this.#messages}.png` : `${this.#messages}.txt`;
      if (kind === 'image') this.images.push({ name: fileName, data: content.toString('base64') });
      const owner = { wsId: this.wsId, principal: 'local' };
      const file = { fileName, bytes: bytesOf(content) };
      ids.push((await this.machine.gateway.attachments.receive({ ...owner, viewer: DAEMON }, file)).attachment_id);
    }
    return ids;
  }

  async changeMachine(): Promise<void> {
    this.machine = await this.#openMachine();
  }

  /** Goes on in another workstream, whose conversation begins with a prefix of its own. */
  moveTo(wsId: string): void {
    this.wsId = wsId;
    this.#watch();
    this.witness.prefix.moveTo(nothingSent());
  }

  /** `isWhole`: the latest request holds all messages, because nothing was cut, and no cancel dropped waiting ones. */
  checkExpected({ isWhole }: { isWhole: boolean }): void {
    for (const text of this.expected.splice(0)) {
      const count = this.witness.countInLatest(text);
      // A summary may quote it.
      if (isWhole && count !== 1) this.witness.violate(`"${text}" was sent ${count} times`);
    }
    for (const text of this.unexpected.splice(0)) {
      if (this.witness.countInLatest(text) > 0) this.witness.violate(`"${text}" was sent, but was taken back`);
    }
  }

  async until(isSo: () => boolean): Promise<void> {
    const begunMs = performance.now();
    while (!isSo()) {
      if (performance.now() - begunMs > MOST_MS) throw new Error('the model is not asked');
      await new Promise(setImmediate);
    }
  }

  /** Whether it is the conversation of a coordinator. */
  get isLead(): boolean {
    return this.machine.parts.workstreams.find(this.wsId, DAEMON)?.data.kind === 'coordinator';
  }

  /**
   * Answers questions, and interrupts answers that never end, until nothing runs any more or `orWhen` is true.
   * `withChildren`: those that work for it, too.
   */
  async settle({ withChildren = false, orWhen = NEVER }: Settling = {}): Promise<void> {
    const begunMs = performance.now();
    for (let turn = 1; performance.now() - begunMs < MOST_MS; turn += 1) {
      const { workstreams } = this.machine.parts;
      const isBusy = withChildren ? isAnyBusy(this) : workstreams.find(this.wsId, DAEMON)?.busy === true;
      if (!isBusy || orWhen()) return;
      if (await this.#intervene()) continue;
      if (turn % TURNS_BEFORE_TIME === 0) await this.machine.clock.advance(TIME_MS);
      await new Promise(setImmediate);
    }
    throw new Error(`the run does not end: ${JSON.stringify(this.machine.log.lines.slice(-5))}`);
  }

  /** Whether there was something to answer, or to interrupt. */
  async #intervene(): Promise<boolean> {
    const [asked] = this.machine.parts.approvals.list(DAEMON, this.wsId);
    if (asked) await this.#decide(asked);
    else if (this.witness.takeHeld()) await this.#interrupt();
    else return this.isLead && (await answerChild(this));
    return true;
  }

  async #decide({ approvalId, items }: Pick<Approval, 'approvalId' | 'items'>): Promise<void> {
    const chance = this.#random.fraction();
    const decide = (approved: boolean, feedback?: string) =>
      this.machine.call('approval.resolve', {
        approvalId,
        approved,
        ...(feedback !== undefined && { feedback }),
        ...(approved && { decisions: this.#answersTo(items) }),
      });
    if (chance < 0.5) await decide(true);
    else if (chance < 0.62) await decide(true, this.nextMessage());
    else if (chance < 0.76) await decide(false, this.nextMessage());
    else if (chance < 0.84) await decide(false);
    else await this.#interrupt();
  }

  /** To questions of the agent: a choice, words, or nothing. */
  #answersTo(items: Approval['items']): CallDecisions {
    const answers = items.flatMap(({ call_id: callId, question }): [string, CallDecisions[string]][] => {
      if (!question || this.#random.chance(0.2)) return [];
      const [choice] = question.choices;
      const isChosen = choice !== undefined && this.#random.chance(0.5);
      return [[callId, { approved: true, ...(isChosen ? { choice: choice.label } : { answer: this.nextMessage() }) }]];
    });
    return Object.fromEntries(answers);
  }

  async #interrupt(): Promise<void> {
    const chance = this.#random.fraction();
    if (chance < 0.4) {
      this.isStopped = true;
      await this.machine.call('workstream.cancel', { wsId: this.wsId });
    } else if (chance < 0.8) await this.machine.crashAnew();
    else await this.machine.restartAnew();
  }
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

async function* bytesOf(content: Buffer) {
  yield content;
}
