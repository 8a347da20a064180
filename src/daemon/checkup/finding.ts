/** The result of one check. */
export interface Finding {
  name: string;
  /** `warning`: it works, but not well. `problem`: it does not work. */
  level: 'ok' | 'warning' | 'problem';
  text: string;
  /** How to fix it. */
  mend?: string;
}

export const ok = (name: string, text: string): Finding => ({ name, level: 'ok', text });
export const warning = (name: string, text: string, mend: string): Finding => ({ name, level: 'warning', text, mend });
export const problem = (name: string, text: string, mend: string): Finding => ({ name, level: 'problem', text, mend });
