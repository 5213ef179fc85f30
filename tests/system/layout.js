// SPDX-License-Identifier: Apache-2.0
// Appended to a page by test_pages.sh: what is wrong with how it is laid out, a line each, in <pre id="layout">.
addEventListener('load', function () {
  'use strict';
  var wrong = [], wide = document.documentElement.clientWidth;
  var say = function (what, e) {
    wrong.push(what + ': <' + e.tagName.toLowerCase() + ' class="' + (e.getAttribute('class') || '') + '"> ' + e.textContent.trim().slice(0, 60));
  };
  // Something that scrolls or cuts by itself may be wider than the page.
  var holds = function (e) {
    for (var a = e; a && a !== document.body; a = a.parentElement)
      if (getComputedStyle(a).overflowX !== 'visible') return true;
    return false;
  };
  if (document.documentElement.scrollWidth > wide) wrong.push('the page is wider than the window: ' + document.documentElement.scrollWidth + ' > ' + wide);
  document.querySelectorAll('body *').forEach(function (e) {
    var style = getComputedStyle(e), box = e.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || e.closest('svg')) return;
    if (/^T[DH]$/.test(e.tagName) && style.display !== 'table-cell') say('no cell of its table', e);
    if (/^T[DH]$/.test(e.tagName) && e.scrollWidth > e.clientWidth + 1) say('wider than its cell', e);
    if (box.right > wide + 1 && !holds(e)) say("beyond the right edge", e);
    if (e.children.length === 0 && e.textContent.trim().length > 3 && box.width < 30 && box.height > 60 && style.writingMode === 'horizontal-tb')
      say('squeezed', e);
  });
  document.querySelectorAll('tr').forEach(function (row) {
    var cells = Array.from(row.cells).map(function (c) { return c.getBoundingClientRect(); });
    for (var i = 1; i < cells.length; i++)
      if (cells[i].left < cells[i - 1].right - 1) { say('cells lie over each other', row); break; }
  });
  // Contrast by WCAG 2: at least 3 (large text, and what is soft on purpose).
  var light = function (colour) {
    var c = colour.match(/[\d.]+/g).slice(0, 3).map(function (v) {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  };
  var ground = function (e) {
    for (var a = e; a; a = a.parentElement) {
      var colour = getComputedStyle(a).backgroundColor, parts = colour.match(/[\d.]+/g);
      if (parts.length < 4 || parts[3] > 0) return colour;
    }
    return 'rgb(255,255,255)';
  };
  document.querySelectorAll('body *').forEach(function (e) {
    var text = Array.from(e.childNodes).some(function (n) { return n.nodeType === 3 && n.data.trim(); });
    if (!text || e.closest('svg')) return;
    var a = light(getComputedStyle(e).color), b = light(ground(e));
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 3) say('hard to read', e);
  });
  document.querySelectorAll('input[placeholder]').forEach(function (e) {
    var context = document.createElement('canvas').getContext('2d'), style = getComputedStyle(e);
    context.font = style.font;
    if (context.measureText(e.placeholder).width > e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight))
      say('placeholder cut: ' + e.placeholder, e);
  });
  var pre = document.createElement('pre');
  pre.id = 'layout';
  pre.textContent = wrong.length ? wrong.slice(0, 20).join('\n') : 'nothing wrong';
  document.body.replaceChildren(pre);
});
