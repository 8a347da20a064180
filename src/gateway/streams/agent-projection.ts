import type { AgentEvent } from '../../../protocol/methods/agent.ts';
import type { ChatEvent } from '../../../protocol/methods/chat.ts';
import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import { GrowingText } from './growing-text.ts';

/** One frame for protocol-2 clients. */
export type AgentFrame = { event: 'agent'; payload: AgentEvent } | { event: 'chat'; payload: ChatEvent };

/**
 * A run as protocol-2 clients see it: a fold of its log. Text is cumulative and sampled: `take` returns what is due at
 * once, `sample` the collected text. Numbers are assigned when a frame is created, so `seq` has no gaps for any reader.
 */
export class AgentProjection {
  readonly #run: { runId: string; sessionKey: string; sessionId: string };
  #seq = 0;
  #startedMs: number | undefined;
  readonly #text = new GrowingText();
  readonly #reasoning = new GrowingText();
  readonly #output = new Map<string, string>();

  constructor(run: { runId: string; sessionKey: string; sessionId: string }) {
    this.#run = run;
  }

  started(nowMs: number): AgentFrame[] {
    const { sessionId, sessionKey } = this.#run;
    this.#startedMs = nowMs;
    return [this.#agent('job', nowMs, { state: 'started', startedAt: nowMs, sessionId, sessionKey })];
  }

  /** Whether there is text to sample. */
  get dirty(): boolean {
    return this.#text.isDirty || this.#reasoning.isDirty || this.#output.size > 0;
  }

  take(event: StreamEvent, nowMs: number): AgentFrame[] {
    switch (event.type) {
      case 'content':
        this.#text.add(event.text);
        return [];
      case 'reasoning':
        this.#reasoning.add(event.text);
        return [];
      case 'tool_output_chunk':
        this.#output.set(event.call_id, (this.#output.get(event.call_id) ?? '') + event.chunk);
        return [];
      case 'thinking_start':
        this.#forgetText();
        return [];
      case 'stream_end':
        return this.#streamEnd(event, nowMs);
      case 'tool_info':
      case 'approve_request':
        return [...this.sample(nowMs), ...this.#toolStarts(event.items, nowMs)];
      case 'tool_result':
        return [...this.sample(nowMs), this.#toolResult(event, nowMs)];
      case 'error':
        return [...this.sample(nowMs), this.#agent('error', nowMs, { message: event.message })];
      case 'ws_state':
        return event.run ? this.#ended(event.run, nowMs) : [];
      default:
        return [];
    }
  }

  /** The text collected since the last sample, as one frame per stream. */
  sample(nowMs: number): AgentFrame[] {
    const frames: AgentFrame[] = [];
    if (this.#reasoning.isDirty) frames.push(this.#agent('reasoning', nowMs, this.#reasoning.sample()));
    if (this.#text.isDirty) {
      const { text, delta } = this.#text.sample();
      frames.push(this.#agent('assistant', nowMs, { text, delta }), this.#chat('delta', nowMs, { text }));
    }
    for (const [toolCallId, output] of this.#output) {
      frames.push(this.#agent('tool', nowMs, { phase: 'update', toolCallId, output }));
    }
    this.#output.clear();
    return frames;
  }

  #streamEnd({ interrupted }: StreamEventOf<'stream_end'>, nowMs: number): AgentFrame[] {
    if (!interrupted) return this.sample(nowMs);
    this.#forgetText();
    return [];
  }

  #forgetText(): void {
    this.#text.forget();
    this.#reasoning.forget();
  }

  #toolStarts(items: StreamEventOf<'tool_info'>['items'], nowMs: number): AgentFrame[] {
    return items
      .filter(({ error }) => error === null)
      .map(({ call_id, func_name, header }) =>
        this.#agent('tool', nowMs, { phase: 'start', name: func_name, toolCallId: call_id, meta: header }),
      );
  }

  #toolResult({ call_id, name, is_error, output }: StreamEventOf<'tool_result'>, nowMs: number): AgentFrame {
    return this.#agent('tool', nowMs, { phase: 'result', name, toolCallId: call_id, isError: is_error, output });
  }

  #ended(run: NonNullable<StreamEventOf<'ws_state'>['run']>, nowMs: number): AgentFrame[] {
    const frames = this.sample(nowMs);
    const about = { ...this.#times(nowMs), sessionId: this.#run.sessionId };
    if (run.status === 'ok' || run.status === 'cancelled') {
      const aborted = run.status === 'cancelled';
      frames.push(this.#agent('job', nowMs, { state: 'done', ...about, aborted }));
      frames.push(aborted ? this.#chat('aborted', nowMs) : this.#chat('final', nowMs, { text: this.#text.text }));
    } else {
      const error = run.error ?? 'the run failed';
      frames.push(this.#agent('job', nowMs, { state: 'error', ...about, error }));
      frames.push(this.#chat('error', nowMs, { error }));
    }
    return frames;
  }

  /** A run that was never told to have started has an end only. */
  #times(endedAt: number) {
    const startedAt = this.#startedMs;
    if (startedAt === undefined) return { endedAt };
    return { startedAt, endedAt, durationMs: Math.max(0, endedAt - startedAt) };
  }

  #agent(stream: string, ts: number, data: Record<string, unknown>): AgentFrame {
    this.#seq += 1;
    return { event: 'agent', payload: { runId: this.#run.runId, seq: this.#seq, stream, ts, data } };
  }

  /** A chat event has the number of the agent event that precedes it. */
  #chat(state: ChatEvent['state'], timestamp: number, said: { text?: string; error?: string } = {}): AgentFrame {
    const { runId, sessionKey } = this.#run;
    const { text = '', error } = said;
    const message = { role: 'assistant' as const, content: [{ type: 'text' as const, text }], timestamp };
    return {
      event: 'chat',
      payload: {
        runId,
        sessionKey,
        seq: this.#seq,
        state,
        ...(text.trim() !== '' && { message }),
        ...(error !== undefined && { errorMessage: error }),
      },
    };
  }
}
