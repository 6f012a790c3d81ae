/* SPDX-License-Identifier: MIT */
/* Comfort only: the page is complete without it. */
(function () {
	"use strict";

	function make(name, text, parent) {
		var element = document.createElement(name);
		if (text)
			element.textContent = text;
		if (parent)
			parent.appendChild(element);
		return element;
	}

	function each(list, action) {
		Array.prototype.forEach.call(list, action);
	}

	function button(text, parent, action) {
		var element = make("button", text, parent);
		element.type = "button";
		element.addEventListener("click", action);
		return element;
	}

	/* Theme: follows the system until the reader says otherwise. */
	function addTools() {
		var tools = document.getElementById("tools");
		var dark = window.matchMedia("(prefers-color-scheme: dark)");
		button("Light / dark", tools, function () {
			var root = document.documentElement;
			var now = root.dataset.theme || (dark.matches ? "dark" : "light");
			root.dataset.theme = now === "dark" ? "light" : "dark";
		});
		button("Save JSON", tools, function () {
			var text = document.getElementById("data").textContent;
			var link = make("a");
			link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
			link.download = "tfshim-report.json";
			link.click();
			URL.revokeObjectURL(link.href);
		});
	}

	/* Findings: filter by level and words, sort by column. */
	function addFilter(table) {
		var controls = document.getElementById("finding-controls");
		var hidden = {};
		var words = make("input", "", controls);
		var shown = make("span", "", controls);
		var rows = table.querySelectorAll("tbody.finding");

		function apply() {
			var wanted = words.value.toLowerCase();
			var count = 0;
			each(rows, function (row) {
				var fits = !hidden[row.dataset.level] &&
					row.textContent.toLowerCase().indexOf(wanted) >= 0;
				row.hidden = !fits;
				count += fits ? 1 : 0;
			});
			shown.textContent = count === rows.length ? "" : count + " of " + rows.length + " shown";
		}

		words.type = "search";
		words.placeholder = "Filter: rule, file, function";
		words.setAttribute("aria-label", "Filter findings");
		words.addEventListener("input", apply);
		shown.className = "dim";
		shown.setAttribute("role", "status");
		["error", "warn", "note"].forEach(function (level) {
			var count = table.querySelectorAll("tbody[data-level=" + level + "]").length;
			if (!count)
				return;
			var toggle = button(level + " " + count, null, function () {
				hidden[level] = !hidden[level];
				toggle.setAttribute("aria-pressed", String(!hidden[level]));
				apply();
			});
			toggle.setAttribute("aria-pressed", "true");
			controls.insertBefore(toggle, shown);
		});
		controls.insertBefore(button("Unfold all", null, function () {
			var details = table.querySelectorAll("details");
			var open = !Array.prototype.every.call(details, function (d) { return d.open; });
			each(details, function (d) { d.open = open; });
		}), shown);
	}

	function addSorting(table) {
		each(table.tHead.rows[0].cells, function (cell, column) {
			var title = cell.textContent;
			var up = false;
			cell.textContent = "";
			button(title, cell, function () {
				var bodies = Array.prototype.slice.call(table.tBodies);
				up = !up;
				function key(body) {
					var data = body.rows[0].cells[column];
					var text = data.dataset.sort || data.textContent;
					var number = parseFloat(text);
					return isNaN(number) ? text : number;
				}
				bodies.sort(function (a, b) {
					var one = key(a), two = key(b);
					if (typeof one !== typeof two)
						return typeof one === "number" ? -1 : 1;
					var order = one < two ? -1 : one > two ? 1 : 0;
					return up ? order : -order;
				});
				bodies.forEach(function (body) { table.appendChild(body); });
				each(table.tHead.rows[0].cells, function (other) {
					other.removeAttribute("aria-sort");
				});
				cell.setAttribute("aria-sort", up ? "ascending" : "descending");
			});
		});
	}

	/* Lanes: zoom with the wheel or + and -, move by dragging or the arrow keys. */
	function addZoom(chart) {
		var plot = chart.querySelector("svg.plot");
		if (!plot)
			return;
		var box = plot.viewBox.baseVal;
		var full = box.width;
		var from = 0, width = full;
		var grid = chart.querySelectorAll(":scope > .grid");
		var ticks = chart.querySelectorAll(":scope > .axis");
		var left = plot.x.baseVal.value;
		var places = Array.prototype.map.call(ticks, function (tick) {
			return parseFloat(tick.getAttribute("x")) - left;
		});

		function show() {
			width = Math.min(full, Math.max(full / 500, width));
			from = Math.min(full - width, Math.max(0, from));
			plot.setAttribute("viewBox", from + " 0 " + width + " " + box.height);
			places.forEach(function (place, i) {
				var x = (place - from) * full / width;
				var inside = x >= -1 && x <= full + 1;
				grid[i].setAttribute("transform", "translate(" + (x - place) + ")");
				ticks[i].setAttribute("x", left + x);
				grid[i].style.display = ticks[i].style.display = inside ? "" : "none";
			});
		}

		function zoom(factor, at) {
			var center = from + at * width;
			width = Math.min(full, Math.max(full / 500, width * factor));
			from = center - at * width;
			show();
		}

		function position(event) {
			var frame = chart.getBoundingClientRect();
			var x = (event.clientX - frame.left) / frame.width * chart.viewBox.baseVal.width;
			return Math.min(1, Math.max(0, (x - left) / full));
		}

		var controls = make("p");
		controls.className = "controls";
		button("+", controls, function () { zoom(0.5, 0.5); }).setAttribute("aria-label", "Zoom in");
		button("\u2212", controls, function () { zoom(2, 0.5); }).setAttribute("aria-label", "Zoom out");
		button("Whole step", controls, function () { from = 0; width = full; show(); });
		make("span", "Ctrl and wheel zooms, dragging moves.", controls).className = "dim";
		chart.parentNode.parentNode.insertBefore(controls, chart.parentNode);
		chart.addEventListener("wheel", function (event) {
			if (!event.ctrlKey && !event.metaKey)
				return;
			event.preventDefault();
			zoom(event.deltaY > 0 ? 1.25 : 0.8, position(event));
		}, { passive: false });
		var drag = null;
		chart.addEventListener("pointerdown", function (event) {
			drag = { at: position(event), from: from };
			chart.setPointerCapture(event.pointerId);
		});
		chart.addEventListener("pointermove", function (event) {
			if (!drag)
				return;
			from = drag.from - (position(event) - drag.at) * width;
			show();
		});
		chart.addEventListener("pointerup", function () { drag = null; });
		chart.setAttribute("tabindex", "0");
		chart.addEventListener("keydown", function (event) {
			var moves = { ArrowLeft: -0.1, ArrowRight: 0.1 };
			if (event.key === "+" || event.key === "=")
				zoom(0.5, 0.5);
			else if (event.key === "-")
				zoom(2, 0.5);
			else if (moves[event.key])
				from += moves[event.key] * width, show();
			else
				return;
			event.preventDefault();
		});
	}

	/* Folded parts are printed too. */
	function addPrinting() {
		var opened = [];
		window.addEventListener("beforeprint", function () {
			each(document.querySelectorAll("details:not([open])"), function (details) {
				details.open = true;
				opened.push(details);
			});
		});
		window.addEventListener("afterprint", function () {
			opened.forEach(function (details) { details.open = false; });
			opened = [];
		});
	}

	addTools();
	addPrinting();
	each(document.querySelectorAll("svg.lanes"), addZoom);
	var table = document.querySelector("#findings table.findings");
	if (table) {
		addFilter(table);
		addSorting(table);
	}
}());
