import type { DrawFrame } from '../../state/diagrams/diagram-drawer.ts';

/**
 * Opens the frame that draws. Without `allow-same-origin`, its origin is opaque: it reaches neither the page nor the login. It has to have a
 * layout, because it measures, so the style sheet moves it out of sight.
 */
export function openDrawFrame(tell: (message: unknown) => void): DrawFrame {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  Object.assign(frame, {
    src: '/static/diagram.html',
    className: 'draw-frame',
    title: 'Draws diagrams',
    tabIndex: -1,
    inert: true,
  });
  frame.setAttribute('aria-hidden', 'true');
  const onMessage = ({ source, origin, data }: MessageEvent) => {
    if (source === frame.contentWindow && origin === 'null') tell(data);
  };
  window.addEventListener('message', onMessage);
  document.body.append(frame);
  return {
    // An opaque origin cannot be named. What is sent is the source of a diagram and no secret.
    send: (request) => frame.contentWindow?.postMessage(request, '*'),
    close() {
      window.removeEventListener('message', onMessage);
      frame.remove();
    },
  };
}
