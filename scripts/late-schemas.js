// Makes zod build a schema at its first use. Otherwise every start would build thousands of them, and most requests need a few.
import { readFile } from 'node:fs/promises';

/**
 * Changes zod's constructor: an instance has only its definition until somebody reads `_zod`, which everything that uses a schema does.
 * The first instance of each kind is built at once, because it also installs the methods of the kind. Its other own properties, such
 * as `options`, are made readable on the others: reading one builds them (decision 150).
 */
export const lateSchemas = {
  name: 'late-schemas',
  setup(builder) {
    for (const [file, edits] of Object.entries(EDITS)) {
      const filter = new RegExp(`[\\\\/]zod[\\\\/]v4[\\\\/]core[\\\\/]${file}\\.js$`);
      builder.onLoad({ filter }, async ({ path }) => ({
        contents: edit(await readFile(path, 'utf8'), { path, edits }),
      }));
    }
  },
};

/** The source with the replacements. Each must occur once: a new version of zod may need other ones. */
function edit(source, { path, edits }) {
  let text = source;
  for (const [before, after] of edits) {
    if (text.split(before).length !== 2) throw new Error(`${path} has changed: see scripts/late-schemas.js`);
    text = text.replace(before, () => after);
  }
  return text;
}

const EDITS = {
  core: [
    [
      'import { members as installMembers } from "./util.js";',
      'import { aside, members as installMembers } from "./util.js";',
    ],
    // Reading `_zod` of an unfinished instance would build it.
    ['if (!inst._zod) {', 'if (!Object.hasOwn(inst, "_zod")) {'],
    [
      'const inst = params?.Parent ? newError(Definition) : this;\n        init(inst, def);',
      `if (isKnown && Object.getPrototypeOf(this) === _.prototype) {
            this.def = def;
            if (hasType)
                this.type = def.type;
            this["~parent"] = undefined;
            return this;
        }
        const inst = params?.Parent ? newError(Definition) : this;
        finish(inst, def);
        if (inst === this && Object.getPrototypeOf(inst) === _.prototype)
            learn(inst);
        return inst;
    }
    let isKnown = false;
    let hasType = false;
    function learn(first) {
        const own = Reflect.ownKeys(first).filter((key) => key !== "_zod" && key !== "def");
        hasType = own.includes("type");
        for (const key of own.filter((key) => key !== "type"))
            Object.defineProperty(_.prototype, key, {
                configurable: true,
                get() {
                    return this._zod && Object.hasOwn(this, key) ? this[key] : undefined;
                },
                set(value) {
                    Object.defineProperty(this, key, { configurable: true, writable: true, enumerable: true, value });
                },
            });
        Object.defineProperty(_.prototype, "_zod", {
            configurable: true,
            get() {
                if (!Object.hasOwn(this, "def"))
                    return undefined;
                aside(() => finish(this, this.def));
                if (this["~parent"])
                    this._zod.parent = this["~parent"];
                return this._zod;
            },
        });
        isKnown = true;
    }
    function finish(inst, def) {
        init(inst, def);`,
    ],
  ],
  util: [
    [
      'const cl = new inst._zod.constr(def ?? inst._zod.def);\n    if (!def || params?.parent)\n        cl._zod.parent = inst;',
      `const cl = new inst.constructor(def ?? inst.def);
    if (!def || params?.parent) {
        if (Object.hasOwn(cl, "_zod"))
            cl._zod.parent = inst;
        else
            cl["~parent"] = inst;
    }`,
    ],
    [
      'let installing;\n',
      `let installing;
export function aside(work) {
    const outer = installing;
    installing = undefined;
    try {
        work();
    }
    finally {
        installing = outer;
    }
}
`,
    ],
  ],
};
