import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type RequestHandler, type Request as StockRequest } from 'express';
import type { Exchange } from './exchange.ts';

/** What our handlers find in `res.locals`. */
interface Locals {
  exchange: Exchange;
}

export type EdgeHandler = RequestHandler<StockRequest['params'], unknown, unknown, StockRequest['query'], Locals>;

/** A response whose locals are set before Express sees it. */
export class EdgeResponse extends ServerResponse {
  declare locals: Locals;
}

export interface ExpressClasses {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof EdgeResponse;
}

/**
 * Express replaces the prototype of every request and response, which makes the objects slow. Objects of these classes
 * have the right prototype from the start (decision 44).
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
