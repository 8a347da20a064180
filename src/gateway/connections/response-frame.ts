import type { GatewayError } from '../../../protocol/errors.ts';
import { toErrorShape } from '../error-shape.ts';
import { encodeTextFrame } from '../frame-encoding.ts';

export const encodeAnswer = (id: string, payload: unknown): Buffer =>
  encodeTextFrame(JSON.stringify({ type: 'res', id, ok: true, payload }));

/** An answer whose payload is JSON already. */
export const encodeAnswerOf = (id: string, payloadJson: string): Buffer =>
  encodeTextFrame(`{"type":"res","id":${JSON.stringify(id)},"ok":true,"payload":${payloadJson}}`);

/** The refusal of a request; where the error carries a result, both. */
export function encodeRefusal(id: string, error: GatewayError): Buffer {
  const { payload } = error;
  return encodeTextFrame(JSON.stringify({ type: 'res', id, ok: false, payload, error: toErrorShape(error) }));
}
