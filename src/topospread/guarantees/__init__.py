"""Promises that hold in every order of pods and every tie, or an order in which they do not."""

from .result import Guarantee, GuaranteeAnswer, OrderStep

__all__ = ["Guarantee", "GuaranteeAnswer", "OrderStep"]
