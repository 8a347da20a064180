import { type ReadonlySignal, signal } from '@preact/signals';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { type Login, LoginError, type PasswordChange } from '../login.ts';

/** A logout that failed. */
export interface FailedLogout {
  /** Counts them, so that each is told even if a notice with the same words was hidden. */
  nth: number;
  text: string;
}

/** Changes the password of the person, and logs out. */
export class OwnLogin {
  readonly #login: Pick<Login, 'changePassword' | 'logout' | 'status'>;
  readonly #failed = signal<FailedLogout | undefined>(undefined);
  /** Settles when the password that is being changed has been changed or refused. */
  #changing: Promise<unknown> | undefined;
  #failures = 0;

  constructor(login: Pick<Login, 'changePassword' | 'logout' | 'status'>) {
    this.#login = login;
  }

  /** The last logout, if it failed. */
  get failed(): ReadonlySignal<FailedLogout | undefined> {
    return this.#failed;
  }

  /** Returns an error message, or undefined on success. */
  async changePassword(change: PasswordChange): Promise<string | undefined> {
    const changing = this.#login.changePassword(change);
    this.#changing = changing.catch(() => undefined); // reported below
    try {
      await changing;
      return undefined;
    } catch (error) {
      return wordsOf(error);
    } finally {
      this.#changing = undefined;
    }
  }

  /** Until no password is being changed: the answer brings the next login. */
  async afterChange(): Promise<void> {
    await this.#changing;
  }

  /** Returns whether the login has ended. */
  async end(): Promise<boolean> {
    this.#failed.value = undefined;
    try {
      await this.#login.logout();
      return true;
    } catch (error) {
      // It may have ended earlier, or only the answer was lost.
      const auth = await this.#login.status().catch(() => undefined); // no answer: nobody knows
      if (auth?.authenticated === false) return true;
      this.#failures += 1;
      const text = auth || error instanceof LoginError ? `You are still logged in: ${wordsOf(error)}` : UNANSWERED;
      this.#failed.value = { nth: this.#failures, text };
      return false;
    }
  }
}

const UNANSWERED = 'Headgate did not answer, so you may still be logged in. Log out again when it answers.';
