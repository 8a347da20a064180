import { isCoordination } from '../../../protocol/events/coordination/is-coordination.ts';
import { isBusy } from '../../../protocol/is-busy.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent, StreamEventOf, WorkstreamState } from '../../../protocol/stream-events.ts';
import { addSpending, type SpendingSum } from '../../../protocol/text/spending/spending-words.ts';
import type { Here } from '../local-time.ts';
import {
  type Question,
  toDecisionLine,
  toQuestion,
  toQuestionLines,
  toQuestionRoom,
} from '../terminal/question-lines.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import {
  addOutput,
  type RunningTool,
  type ToolCall,
  toHeadRows,
  toResultLines,
  toRunningLines,
  toToolCall,
  toUnknownCall,
} from '../terminal/tool-lines.ts';
import { toWarningLines } from '../terminal/warning-lines.ts';
import { wrapLines, wrapWords } from '../terminal/wrap.ts';
import { createSideLines } from './agents/side-lines.ts';
import { createTurn, type Turn } from './answer-turn.ts';
import { createCards } from './cards/card.ts';
import { type Notice, spentUntil, toCutLine, toHistoryLines, toTimeLine, toTurnLines } from './history-lines.ts';
import type { Transcript, TranscriptDeps } from './transcript.ts';

/** Prints the events as they come. */
export const createTranscript = (deps: TranscriptDeps): Transcript => new LoggedTranscript(deps);

class LoggedTranscript implements Transcript {
  readonly #deps: TranscriptDeps;
  readonly #tools = new Map<string, RunningTool>();
  readonly #denied = new Set<string>();
  readonly #side = createSideLines((lines) => this.print(lines));
  #turn: Turn | undefined;
  #hasPrinted = false;
  #toldError = false;
  #isResent = false; // the next message replaces an earlier one; nothing tells which client sent it
  #asked: string | undefined;
  #answeredMs: number | undefined; // when the answer was complete that ends what is printed
  #spent: SpendingSum | undefined; // since the last message
  state: WorkstreamState = 'idle';
  isWaiting = false;
  question: Question | undefined;
  readonly cards = createCards();
  lastThought = '';

  constructor(deps: TranscriptDeps) {
    this.#deps = deps;
  }

  onSnapshot({ workstream, pendingApprovals, ...stored }: WorkstreamSnapshot): void {
    this.#turn = undefined;
    this.#tools.clear();
    [this.question, this.#asked, this.#answeredMs] = [undefined, undefined, undefined];
    this.#spent = spentUntil(stored.messages, stored.messages.length - 1);
    this.state = workstream.state;
    this.cards.restore(stored.messages);
    if (this.#deps.isInteractive) this.#printHistory(stored);
    for (const one of stored.backgroundCommands ?? [])
      this.#side.tell({ ...one, type: 'background_command' }, this.#deps.sheet());
    for (const approval of pendingApprovals) this.#ask(approval);
  }

  onEvent(event: StreamEvent): void {
    switch (event.type) {
      case 'user_turn':
        this.#onUserTurn(event);
        break;
      case 'thinking_start':
      case 'thinking_stop':
        this.isWaiting = event.type === 'thinking_start';
        return;
      case 'reasoning':
      case 'content':
      case 'stream_end':
      case 'cancelled':
        this.#onAnswer(event);
        break;
      case 'tool_info':
        this.#startTools(event.items.map((item) => toToolCall(item, false)));
        break;
      case 'approve_request':
        this.#ask(event);
        break;
      case 'approval_resolved':
        this.#onDecision(event);
        break;
      case 'tool_output_chunk':
        addOutput(this.#tools.get(event.call_id), event.chunk);
        break;
      case 'tool_result':
        this.#onResult(event);
        break;
      case 'output_warning':
        this.print(toWarningLines(event, this.#deps.sheet()));
        break;
      case 'background_command':
      case 'sub_agent':
        this.#side.tell(event, this.#deps.sheet());
        return;
      case 'ws_state':
        this.#onState(event);
        break;
      case 'watch': // its result comes as a message
      case 'ws_rename': // only lists show titles
      case 'intent_verdict':
      case 'judge_state':
        return;
      default:
        if (!isCoordination(event)) this.#onNotice(event); // the calls say as much
    }
  }

  print(lines: readonly string[]): void {
    this.flush();
    this.#turn?.interrupt();
    this.#printBlock(lines);
  }

  printResult(call: ToolCall, result: Parameters<typeof toResultLines>[1]): void {
    const { sheet, isInteractive } = this.#deps;
    this.cards.add(call, result);
    this.print(toResultLines(call, result, { ...sheet(), hasCommands: isInteractive }));
  }

  flush(): void {
    this.#printAnswer(this.#turn?.takeFinished() ?? []);
  }

  liveLines(maxRows: number): string[] {
    const answer = this.#turn?.openLines() ?? [];
    const running = toRunningLines([...this.#tools.values()], { sheet: this.#deps.sheet(), maxRows });
    const apart = this.#hasPrinted && (answer.length > 0 || running.length > 0) && !this.#turn?.hasPrinted;
    return [...(apart ? [''] : []), ...answer, ...running];
  }

  #printHistory(stored: Parameters<typeof toHistoryLines>[0]): void {
    for (const lines of toHistoryLines(stored, this.#deps.sheet(), this.#here())) this.print(lines);
  }

  /** Over pipes there are no times, so that the same conversation gives the same output. */
  #here(): Here | undefined {
    return this.#deps.isInteractive ? this.#deps.here() : undefined;
  }

  #printBlock(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#answeredMs = undefined;
    this.#deps.screen.print(this.#hasPrinted ? ['', ...lines] : lines);
    this.#hasPrinted = true;
  }

  #printAnswer(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const turn = this.#turn;
    const apart = this.#hasPrinted && turn?.hasPrinted !== true;
    const block = apart ? ['', ...lines] : lines;
    turn?.onPrinted(block.length);
    this.#deps.screen.print(block);
    this.#hasPrinted = true;
  }

  #onUserTurn(event: StreamEventOf<'user_turn'>): void {
    const isOurs = this.#isResent || this.#deps.isMyRun(event.steered_run_id ?? event.run_id);
    [this.#toldError, this.#isResent, this.#spent] = [false, false, undefined];
    this.print(toTurnLines(event, { ...this.#deps.sheet(), isOurs, here: this.#here() }));
  }

  #onAnswer(event: StreamEventOf<'reasoning' | 'content' | 'stream_end' | 'cancelled'>): void {
    const { grow, sheet, isInteractive } = this.#deps;
    const { paint } = sheet();
    this.isWaiting = false;
    switch (event.type) {
      case 'reasoning':
      case 'content':
        this.#turn ??= createTurn({ text: grow(), sheet, isInteractive });
        this.#turn.push(event);
        return;
      case 'stream_end':
        if (event.interrupted === true) this.#voidAnswer();
        else this.#endAnswer();
        this.#answeredMs = event.created_ms;
        this.#spent = addSpending(this.#spent, event.spent);
        break;
      case 'cancelled':
        this.#endAnswer();
        this.print([paint('dim', '(stopped)')]);
        break;
    }
  }

  #endAnswer(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#printAnswer(turn.end());
    if (turn.thought !== '') this.lastThought = turn.thought;
    this.#turn = undefined;
  }

  /**
   * The daemon died in the middle of the answer and asks the model again. The partial text is erased; if it has scrolled
   * away, a line marks it as void.
   */
  #voidAnswer(): void {
    const { paint } = this.#deps.sheet();
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined || turn.printedLines === 0) return;
    if (!turn.wasInterrupted && this.#deps.screen.retract(turn.printedLines)) return;
    this.print([paint('dim', '(A restart cut off the answer above, so it is void. The model is asked again.)')]);
  }

  #startTools(calls: readonly ToolCall[]): void {
    this.#endAnswer();
    this.#answeredMs = undefined; // it was not the last answer of the run
    for (const call of calls) this.#tools.set(call.callId, { call, live: this.#tools.get(call.callId)?.live ?? '' });
  }

  /** A snapshot contains the question before the turn that asked it is replayed; it is printed only once. */
  #ask(asked: StreamEventOf<'approve_request'> | Approval): void {
    const question = toQuestion(asked);
    this.#endAnswer();
    this.question = question;
    if (this.#asked === question.approvalId) return;
    this.#asked = question.approvalId;
    const room = toQuestionRoom(question, this.#deps.screen);
    this.print(toQuestionLines({ ...question, agent: this.#side.titleOf(asked) }, { ...this.#deps.sheet(), room }));
  }

  #onDecision(event: StreamEventOf<'approval_resolved'>): void {
    const question = this.question;
    if (question?.approvalId !== event.approval_id) return;
    const { paint } = this.#deps.sheet();
    this.question = undefined;
    this.print([toDecisionLine(question, event, { paint, isMine: this.#deps.isMyDecision(event.approval_id) })]);
    if (event.plan === 'revised') return; // its call goes on
    if (event.approved) this.#startTools(question.items.map((item) => toToolCall(item, true)));
    else for (const { call_id } of question.items) this.#denied.add(call_id);
  }

  #onResult({ call_id, name, output, outcome }: StreamEventOf<'tool_result'>): void {
    const known = this.#tools.get(call_id)?.call;
    this.#tools.delete(call_id);
    if (this.#denied.delete(call_id)) return; // the decision has been printed
    this.printResult(known ?? toUnknownCall(name), { output, outcome });
  }

  #onState({ state, run }: StreamEventOf<'ws_state'>): void {
    const { paint } = this.#deps.sheet();
    this.state = state;
    if (isBusy(state)) return;
    this.isWaiting = false;
    this.question = undefined;
    this.#endAnswer();
    // Below the last answer of a run.
    const at = { atMs: this.#answeredMs, spent: this.#spent };
    if (this.#hasPrinted) this.#deps.screen.print(toTimeLine(at, paint, this.#here()));
    this.#answeredMs = undefined;
    for (const { call } of this.#tools.values())
      this.print(toHeadRows(call, { mark: paint('red', '■') }, this.#deps.sheet()));
    this.#tools.clear();
    const isTold = run === undefined || run.status === 'ok' || run.status === 'cancelled' || this.#toldError;
    if (!isTold) this.print([paint('red', `✖ ${toSafeText(run.error ?? `The run ended: ${run.status}`)}`)]);
    if (run?.failed) this.print([paint('dim', '(not answered, and no longer sent to the model)')]);
  }

  #onNotice(event: Notice): void {
    if (event.type === 'status' || event.type === 'settings_changed') return; // `openTalk` reads them
    const { paint, columns } = this.#deps.sheet();
    switch (event.type) {
      case 'info':
        this.print(wrapLines(toSafeText(event.message), columns));
        break;
      case 'error':
        this.#toldError = true;
        this.print(wrapWords(paint('red', `✖ ${toSafeText(event.message)}`), columns));
        break;
      case 'clear_ui':
      case 'rewound':
      case 'message_removed':
      case 'compacted':
        this.#isResent = event.type === 'rewound' && event.reason !== 'rewind';
        this.print([paint('dim', toCutLine(event))]);
        break;
      case 'history':
        this.#printHistory(event);
        break;
      default: // `openTalk` reads the others
    }
  }
}
