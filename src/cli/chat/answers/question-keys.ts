import type { Key } from 'node:readline';
import type { Question } from '../../terminal/question-lines.ts';
import type { LineEditor } from '../input/line-editor.ts';
import type { Talk } from '../talk.ts';
import { answerFiner, type Finer, isChoice } from './finer-answer.ts';
import { type Mode, modeFor } from './mode.ts';
import { type Answering, answerTyped, endsAnswer } from './typed-answers.ts';

interface QuestionKeysDeps {
  editor: Pick<LineEditor, 'text' | 'take'>;
  /** On a clock that never jumps. */
  nowMs(): number;
  decide(decision: Parameters<Talk['decide']>[0]): void;
  /** Prints everything that would run. */
  showAll(question: Question): void;
}

/** A key pressed sooner after a question appeared was not meant as its answer. */
export const STARTLE_MS = 400;

/** Turns keys into the answer to the pending question. */
export class QuestionKeys {
  readonly #deps: QuestionKeysDeps;
  #asked: string | undefined;
  #askedMs = 0;
  mode: Mode = { kind: 'message' };

  constructor(deps: QuestionKeysDeps) {
    this.#deps = deps;
  }

  /** Call after every change. A half-given answer ends with its question. */
  watch(question: Question | undefined): void {
    if (question?.approvalId === this.#asked) return;
    this.#asked = question?.approvalId;
    this.#askedMs = this.#deps.nowMs();
    this.leave();
  }

  leave(): void {
    this.mode = { kind: 'message' };
  }

  /** Handles a key that concerns the question; false for any other key. */
  press(question: Question, text: string | undefined, key: Key): boolean {
    const { mode } = this;
    switch (mode.kind) {
      case 'always':
        if (text === 'y') this.#deps.decide({ approvalId: question.approvalId, approved: true, always: true });
        this.leave();
        return true;
      case 'rule':
      case 'each':
        return this.#answersFiner(question, mode, text);
      case 'answer':
        return this.#answersTyped(question, mode, key);
      case 'remark':
        return this.#answersRemark(mode, text, key);
      case 'message':
        if (this.#deps.editor.text !== '' || !isChoice(question, text)) return false;
        if (this.#deps.nowMs() - this.#askedMs >= STARTLE_MS) this.#choose(question, text);
        return true;
    }
  }

  #answersTyped(question: Question, mode: Answering, key: Key): boolean {
    if (!endsAnswer(key)) return false;
    const line = this.#deps.editor.take();
    const { next, decision } = key.name === 'escape' ? {} : answerTyped(question, mode, line);
    this.mode = next ?? { kind: 'message' };
    if (decision) this.#deps.decide({ approvalId: mode.approvalId, ...decision });
    return true;
  }

  #answersRemark(mode: Extract<Mode, { kind: 'remark' }>, text: string | undefined, key: Key): boolean {
    const { approvalId, remark } = mode;
    if (key.name === 'escape') {
      this.#deps.editor.take();
      this.leave();
      return true;
    }
    if (remark === undefined) {
      if (key.name !== 'return') return false;
      this.mode = { ...mode, remark: this.#deps.editor.take().trim() };
      return true;
    }
    if (text !== 'y' && text !== 'n') return true;
    this.#deps.decide({ approvalId, approved: text === 'y', ...(remark !== '' && { feedback: remark }) });
    this.leave();
    return true;
  }

  #choose(question: Question, text: string): void {
    const { approvalId } = question;
    const mode = modeFor(text, approvalId);
    if (text === 'y' || text === 'n') this.#deps.decide({ approvalId, approved: text === 'y' });
    else if (mode) this.mode = mode;
    else this.#deps.showAll(question);
  }

  #answersFiner(question: Question, mode: Finer, text: string | undefined): boolean {
    const { next, decision } = answerFiner(question, mode, text);
    this.mode = next ?? { kind: 'message' };
    if (decision) this.#deps.decide({ approvalId: mode.approvalId, ...decision });
    return true;
  }
}
