import assert from 'node:assert/strict';
import type { SseFrame } from '../../support/clients/sse.ts';
import type { DaemonUnderTest } from '../../support/daemon/daemon.ts';
import type { Way } from './way.ts';

/** By `POST` and an event stream, as a program would. */
export async function byHttp(daemon: DaemonUnderTest, workdir: string): Promise<Way & AsyncDisposable> {
  const post = async (route: string, body: object) => {
    const answer = await daemon.post(`/v1/api/${route}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const { ws_id } = await post('workstreams/new', { workdir });
  const stream = await daemon.sse(ws_id);
  /** The last frame that was waited for: each question is answered once. */
  let last: SseFrame | undefined;
  const next = async (fits: (data: SseFrame['data']) => boolean) => {
    last = await stream.until(({ data }) => fits(data), { ...(last && { after: last }) });
    return last.data;
  };
  return {
    async say(message) {
      await post('send', { ws_id, message });
    },
    async allow(tool) {
      const { approval_id, items } = await next(({ type, kind }) => type === 'approve_request' && kind !== 'plan');
      assert.equal(items[0].func_name, tool);
      await post('approve', { ws_id, approval_id, approved: true });
    },
    async acceptPlan() {
      const { approval_id } = await next(({ type }) => type === 'plan_review');
      await post('plan', { ws_id, approval_id, feedback: '' });
    },
    async answered(text) {
      await next(({ type, text: said }) => type === 'content' && said === text);
      await next(({ type, state }) => type === 'ws_state' && state === 'idle');
    },
    async undo() {
      await post(`workstreams/${ws_id}/undo`, {});
    },
    async redo() {
      await post(`workstreams/${ws_id}/redo`, {});
    },
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
  };
}
