import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type RequestHandler, type Request as StockRequest } from 'express';
import type { Exchange } from './exchange.ts';

/** What our handlers find in `res.locals`. */
interface Locals {
  exchange: Exchange;
}

export type EdgeHandler = RequestHandler<StockRequest['params'], unknown, unknown, StockRequest['query'], Locals>;

/** An answer whose locals are there before Express sees it. */
export class EdgeResponse extends ServerResponse {
  declare locals: Locals;
}

export interface ExpressClasses {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof EdgeResponse;
}

/**
 * Express gives every request and answer its own prototype, and an object whose prototype is exchanged is slow from then
 * on. Made of these classes they have it from the start (decision 44).
 */
export function createExpressClasses(app: Express): ExpressClasses {
  class Request extends IncomingMessage {}
  class Response extends EdgeResponse {}
  for (const [name, made, parent] of [
    ['request', Request.prototype, express.request],
    ['response', Response.prototype, express.response],
  ] as const) {
    Object.setPrototypeOf(made, parent);
    Object.defineProperty(made, 'app', { value: app });
    Object.defineProperty(app, name, { value: made });
  }
  return { IncomingMessage: Request, ServerResponse: Response };
}
