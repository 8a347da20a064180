import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Approval } from '../../../../protocol/methods/approval.ts';
import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import { isDecidedAlready } from '../../decided-already.ts';
import { type Question, toQuestion } from '../../terminal/question-lines.ts';
import { untilAnswered } from '../../until-answered.ts';
import { toAcpError } from '../told-errors.ts';
import type { CallPlace } from '../tool-calls.ts';
import { askEditor, type Editor } from './questions.ts';

interface AskingDeps {
  client: Pick<GatewayClient, 'call'>;
  /** How questions reach the person; `signal` takes them back. */
  editorWith(signal: AbortSignal): Editor;
  place(): CallPlace;
  /** Says something that is no part of the conversation. */
  say(text: string): void;
}

/** The questions of a session, each asked once until somebody decides it, here or elsewhere. */
export class Asking {
  readonly #deps: AskingDeps;
  readonly #asked = new Map<string, AbortController>();

  constructor(deps: AskingDeps) {
    this.#deps = deps;
  }

  ask(asked: StreamEventOf<'approve_request'> | Approval, agent: string | undefined): void {
    const question = toQuestion(asked);
    if (this.#asked.has(question.approvalId)) return;
    const withdrawn = new AbortController();
    this.#asked.set(question.approvalId, withdrawn);
    void this.#decide(question, { agent, signal: withdrawn.signal });
  }

  /** After a snapshot, only these questions are open. */
  reset(pending: readonly Approval[]): void {
    const open = new Set(pending.map(({ approvalId }) => approvalId));
    for (const approvalId of this.#asked.keys()) if (!open.has(approvalId)) this.onDecision(approvalId);
    for (const approval of pending) this.ask(approval, undefined);
  }

  onDecision(approvalId: string): void {
    this.#asked.get(approvalId)?.abort();
    this.#asked.delete(approvalId);
  }

  withdrawAll(): void {
    for (const approvalId of [...this.#asked.keys()]) this.onDecision(approvalId);
  }

  close(): void {
    this.withdrawAll();
  }

  async #decide(question: Question, { agent, signal }: { agent: string | undefined; signal: AbortSignal }) {
    const { client, editorWith, place, say } = this.#deps;
    const { approvalId } = question;
    try {
      const decision = await askEditor(question, { editor: editorWith(signal), place: place(), agent });
      if (decision === undefined || signal.aborted) return;
      await untilAnswered(() => client.call('approval.resolve', { approvalId, ...decision }));
    } catch (error) {
      if (signal.aborted || isDecidedAlready(error)) return;
      say(
        `(The question is still open, because the answer did not count: ${toAcpError(error).message} Answer it on the page or with headgate chat.)`,
      );
    }
  }
}
