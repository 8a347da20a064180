import type { GatewayError } from '../../../protocol/errors.ts';
import { toErrorShape } from '../error-shape.ts';
import { encodeTextFrame, toTextFrame } from '../frame-encoding.ts';

export const encodeAnswer = (id: string, payload: unknown): Buffer =>
  encodeTextFrame(JSON.stringify({ type: 'res', id, ok: true, payload }));

/** Encodes an answer whose payload is already JSON, in parts. Returns the pieces of one frame. */
export const encodeAnswerOf = (id: string, payloadJson: readonly Buffer[]): Buffer[] =>
  toTextFrame([Buffer.from(`{"type":"res","id":${JSON.stringify(id)},"ok":true,"payload":`), ...payloadJson, END]);

const END = Buffer.from('}');

/** Encodes the refusal of a request; if the error carries a result, with both. */
export function encodeRefusal(id: string, error: GatewayError): Buffer {
  const { payload } = error;
  return encodeTextFrame(JSON.stringify({ type: 'res', id, ok: false, payload, error: toErrorShape(error) }));
}
