// The console's own rules on top of the style its pages share with the account page: search, tabs, labels, charts, steps.

const rules = `
.bar{align-items:center}.bar:last-child{margin-bottom:0}
.scroll{position:relative}form.bar{align-items:end}
.bar.spread{justify-content:space-between;gap:1rem}
.bar.spread .bar{margin:0}
.bar.end{margin-top:1.4rem}
.strong{font-weight:600}
.search{display:flex;flex-wrap:wrap;gap:.5rem;flex:1 1 20rem;max-width:36rem}
.search input{flex:1 1 12rem;width:auto;min-width:0}.search select{width:auto;flex:none}
.link{background:none;color:var(--ink);font-weight:500;text-decoration:underline;text-underline-offset:.2em;padding-inline:.4rem}
.tabs{padding:0;margin:-.4rem 0 1.2rem;grid-area:auto;border-bottom:1px solid var(--line);overflow-x:auto;background:none}
.tabs ul{display:flex;gap:.2rem}
.tabs a{border-radius:.6rem .6rem 0 0;padding:.55rem .9rem;white-space:nowrap;border-bottom:3px solid transparent}
.tabs a[aria-current]{background:none;color:var(--ink);border-bottom-color:var(--accent)}
.tabs a:hover{background:var(--soft)}
.pages{padding:0}
.badge{display:inline-block;padding:.1rem .6rem;border-radius:99px;font-size:.82rem;font-weight:600;background:var(--soft);white-space:nowrap}
.badge.good{background:var(--good-soft);color:var(--good)}.badge.bad{background:var(--bad-soft);color:var(--bad)}
.empty{background:var(--card);border:1px dashed var(--strong);border-radius:.8rem;padding:2.2rem 1.4rem;text-align:center;color:var(--muted);margin:0 0 1.2rem}
.empty p{margin:0 auto .4rem}.empty-title{color:var(--ink);font-weight:600;font-size:1.05rem}.empty .button{margin-top:.6rem}
.small{min-height:2rem;padding:.25rem .75rem;font-size:.88rem}
.danger.solid{background:var(--bad);color:var(--card)}
td form{margin:0}td .bar{margin:0;flex-wrap:nowrap;gap:.4rem}
td time{white-space:nowrap;font-variant-numeric:tabular-nums}
.ask{max-width:38rem}
.panel{background:var(--card);border:1px solid var(--line);border-radius:.8rem;padding:1.2rem 1.4rem;margin:0 0 1.2rem}
.panel>h2:first-child{margin-top:0}
.once h2{margin:0 0 .3rem}
.panel .bar:first-child{margin-bottom:.8rem}.panel .bar h2{margin:0}.panel>:last-child{margin-bottom:0}
.panel .search+.scroll,.panel .search+.muted{margin-top:1rem}
input[type=checkbox]{accent-color:var(--accent)}
.panel dl{margin-bottom:.9rem}.panel .scroll{margin-bottom:.4rem}
.keys{list-style:none;margin:0;padding:0;border-top:1px solid var(--line)}
.keys li{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center;justify-content:space-between;padding:.6rem 0;border-bottom:1px solid var(--line)}
.keys li:last-child{border-bottom:0;padding-bottom:0}
.split{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:1.2rem;align-items:start}
.split .panel{margin:0;min-width:0}.split{margin-bottom:1.2rem}
.qr{display:block;width:14rem;max-width:100%;border-radius:.6rem}
.once{display:flex;flex-wrap:wrap;gap:1.4rem;align-items:start}
.once>div{flex:1 1 16rem;min-width:0}
.plot{display:block;width:100%;height:9rem;border-bottom:1px solid var(--strong)}
.plot .a{fill:var(--accent)}.plot .b{fill:var(--bad)}
.scale{display:flex;justify-content:space-between;font-size:.82rem;color:var(--muted);margin:.35rem 0 0;max-width:none}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.88rem;margin:0 0 .6rem;max-width:none}
.legend svg{width:.8rem;height:.8rem;border-radius:.2rem;margin-right:.4rem}
.legend .a{fill:var(--accent)}.legend .b{fill:var(--bad)}
.ranks{list-style:none;margin:0;padding:0;display:grid;gap:.6rem}
.ranks li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.1rem .8rem;font-size:.92rem}
.ranks svg{grid-column:1/-1;display:block;width:100%;height:.5rem;border-radius:99px;background:var(--soft)}
.ranks .a{fill:var(--accent)}.ranks .b{fill:var(--bad)}.ranks .c{fill:var(--strong)}
.ranks b{font-variant-numeric:tabular-nums}
details{margin:.9rem 0 0}summary{cursor:pointer;font-size:.88rem;color:var(--muted)}details .scroll{margin:.7rem 0 0}
.choose{display:inline-flex;grid-area:auto;border:0;gap:.2rem;padding:.2rem;background:var(--soft);border-radius:.7rem}
.choose a{padding:.3rem .8rem;border-radius:.5rem;text-decoration:none;font-size:.9rem}
.choose a[aria-current]{background:var(--card);color:var(--ink);font-weight:600;box-shadow:0 1px 2px rgb(0 0 0/.12)}
.tile{display:flex;flex-direction:column-reverse;color:var(--muted)}.tile b{color:var(--ink)}.tile:hover{border-color:var(--strong)}
.steps{counter-reset:step;list-style:none;margin:0;padding:0}
.steps>li{counter-increment:step;position:relative;padding:0 0 1.4rem 3rem;max-width:none}
.steps>li::before{content:counter(step);position:absolute;left:0;top:-.1rem;width:2rem;height:2rem;border-radius:50%;background:var(--soft);display:grid;place-items:center;font-weight:700}
.steps h2{margin:0 0 .5rem}
.results{list-style:none;margin:0 0 1rem;padding:0}.results li{padding:.5rem 0;border-bottom:1px solid var(--line);display:flex;flex-wrap:wrap;gap:.3rem .8rem}
pre{margin:0 0 1rem;padding:.9rem 1rem;background:var(--soft);border-radius:.7rem;overflow-x:auto;font:.86rem/1.5 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.limit>div{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center}.limit input{width:8rem}
.group{margin:0 0 1.2rem}.group>h2{margin:0 0 1rem}
.setting-grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(19rem,100%),1fr));gap:0 1.6rem}
main .card{max-width:none}.card .field,.card fieldset{max-width:34rem}.setting-grid .field,.setting-grid fieldset{max-width:none}
.card textarea{max-width:none}
@media (max-width:48rem){td{min-width:7.5rem}td:last-child:has(form){position:sticky;right:0;min-width:0;background:var(--card);box-shadow:-.6rem 0 .6rem -.6rem rgb(0 0 0/.2)}td:first-child{min-width:9rem}td code{overflow-wrap:normal}.choose{padding:.2rem}.tabs{padding:0;border-bottom:1px solid var(--line)}.pages{background:none;border:0}.bar.spread>.bar{width:100%}.search{flex-basis:100%;max-width:none}.plot{height:7rem}.steps>li{padding-left:0}.steps>li::before{position:static;margin-bottom:.5rem}}
@media (forced-colors:active){.plot .a,.plot .b,.ranks .a,.ranks .b,.ranks .c{fill:CanvasText}.badge{border:1px solid}}
`;

export const consoleStyle = rules.replaceAll('\n', '');
