import type { ComponentChildren } from 'preact';

/** A component with its name. */
export const Part = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <section class="gallery-part" aria-label={name}>
    <h2>{name}</h2>
    <div class="gallery-examples">{children}</div>
  </section>
);
