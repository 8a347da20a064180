import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { StaticText } from '../encoding.ts';

/** The browser app: one document, and the scripts that it loads later. */
export interface Page {
  html: StaticText;
  /** By their names below /static, which contain their hashes. The document asks for those of its own build, so they are kept with it. */
  parts: ReadonlyMap<string, StaticText>;
  /** Licence texts of the software in the page. */
  licenses: StaticText;
  /** CSP sources of the page's inline scripts and styles, and of its parts: `'sha256-…'`. */
  scriptSources: readonly string[];
  styleSources: readonly string[];
}

/** Headers of a page: it loads nothing from other origins and cannot be framed. */
export const pageHeaders = ({
  scriptSources,
  styleSources,
}: Pick<Page, 'scriptSources' | 'styleSources'>): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: sources(scriptSources),
        styleSrc: sources(styleSources),
        connectSrc: ["'self'"], // covers WebSockets to this origin; `ws:` would allow any host
        workerSrc: ["'self'"], // only /static/sw.js exists
        manifestSrc: ["'self'"],
        frameSrc: ["'self'"], // only /static/diagram.html lets the page frame it
        imgSrc: ['data:', "'self'"], // its icon and attachments; other origins could receive data in the address
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    // The CORS header is `*` by specification, and plain http on a loopback address must stay plain http.
    crossOriginResourcePolicy: false,
    strictTransportSecurity: false,
  });

const sources = (listed: readonly string[]) => (listed.length === 0 ? ["'none'"] : [...listed]);
