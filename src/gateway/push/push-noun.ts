import type { Approval } from '../../../protocol/methods/approval.ts';
import type { pushContracts } from '../../../protocol/methods/channels/push.ts';
import type { Handlers } from '../call.ts';
import type { Owned } from '../sharing/perception.ts';
import type { LoadedPush, PushDeps } from './loaded-push.ts';
import { toMatter } from './question.ts';
import { hasSubscriptions } from './subscription-rows.ts';

/** The workstream of a question, as it is now: it may be shared with fewer while the question waits. */
interface Asking extends Owned {
  title: string | null;
  name: string;
}

/** Notifications of what waits for people. Their code is loaded when somebody wants them: most daemons need none of it. */
export class Push {
  readonly #deps: PushDeps;
  #loading: Promise<LoadedPush> | undefined;
  /** Questions and decisions in their order. */
  #queue: Promise<void> = Promise.resolve();

  constructor(deps: PushDeps) {
    this.#deps = deps;
  }

  readonly methods: Handlers<keyof typeof pushContracts> = {
    'push.list': async (...call) => (await this.#load()).methods['push.list'](...call),
    'push.subscribe': async (...call) => (await this.#load()).methods['push.subscribe'](...call),
    'push.remove': async (...call) => (await this.#load()).methods['push.remove'](...call),
    'push.test': async (...call) => (await this.#load()).methods['push.test'](...call),
  };

  asked(of: Asking, approval: Approval): void {
    const matter = toMatter({ approval, of, place: of.title ?? of.name });
    this.#later(async () => {
      if (await this.#isWanted()) (await this.#load()).notifier.asked(matter);
    });
  }

  decided(approvalId: string): void {
    this.#later(async () => (await this.#loading)?.notifier.decided(approvalId));
  }

  /** Others perceive the workstream now: those who do not any more shall not keep its questions. */
  shared(wsId: string): void {
    this.#later(async () => (await this.#loading)?.notifier.shared({ wsId }));
  }

  /** A machine, a person, an account or a memory may have begun or ended to wait. */
  look(): void {
    this.#later(async () => {
      if (await this.#isWanted()) await (await this.#load()).things.look();
    });
  }

  async close(): Promise<void> {
    await this.#queue;
    const loaded = await this.#loading;
    await loaded?.things.close();
    await loaded?.notifier.close();
  }

  #later(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'notifications could not be sent');
    });
  }

  async #isWanted(): Promise<boolean> {
    const { services, store } = this.#deps;
    const { ntfy, webhooks } = services.settings();
    return ntfy.size > 0 || webhooks.size > 0 || (await hasSubscriptions(store));
  }

  #load(): Promise<LoadedPush> {
    this.#loading ??= import('../loaded/loaded-services.ts')
      .then(({ createLoadedPush }) => createLoadedPush(this.#deps))
      .catch((error: unknown) => {
        this.#loading = undefined; // the next question tries again
        throw error;
      });
    return this.#loading;
  }
}
