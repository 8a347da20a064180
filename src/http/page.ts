import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { StaticText } from './encoding.ts';

/** The browser app as one file. */
export interface Page {
  html: StaticText;
  /** Licence texts of the software in the page. */
  licenses: StaticText;
  /** CSP sources of its inline scripts and styles: `'sha256-…'`. */
  scriptSources: readonly string[];
  styleSources: readonly string[];
}

/** The headers of the page, and only of the page: it loads nothing from elsewhere and sits in nobody's frame. */
export const pageHeaders = ({ scriptSources, styleSources }: Page): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: sources(scriptSources),
        styleSrc: sources(styleSources),
        connectSrc: ["'self'"], // covers WebSockets to ourselves; `ws:` would let a page talk to anyone
        imgSrc: ['data:', "'self'"], // its icon and attachments; an address elsewhere could carry away what the page has read
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
